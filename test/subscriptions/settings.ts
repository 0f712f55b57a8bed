/** What the delivery of a subscription reads of it, and what is told of it. */

import type { Database } from '../../server/core/db/database.ts';
import { deliverySettings, type SettingsServices } from '../../server/subscriptions/settings.ts';
import { asAdmin } from '../helpers/admin.ts';

type Services = { subscriptions: SettingsServices & { database: Database } };

export function settingsOf({ subscriptions }: Services, tenant: string, id: string) {
  return subscriptions.database.read(tenant, (tx) => deliverySettings(subscriptions, tx, tenant, id));
}

/** The data of the events of a key, in their order, numbered or not. */
export async function dataOf(adminUrl: string, tenant: string, key: string) {
  const rows = await asAdmin<{ body: { action: string } }>(
    adminUrl,
    `select body from (select id, body from accord.event_inbox where tenant = $1 and key = $2
       union all select id, body from accord.event where tenant = $1 and key = $2) as e order by id`,
    [tenant, key],
  );
  return rows.map(({ body }) => body);
}
