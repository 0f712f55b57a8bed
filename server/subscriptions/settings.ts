/** A subscription as it is delivered by: with its secrets, and without what only people are told. */
import type { Clock } from '../core/clock.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import type { EventType } from '../room/events.ts';
import { readTenant } from '../tenants/index.ts';
import { matcher, typesOf } from './filters.ts';
import type { DeliverySettings, EndpointAuth, SubscriptionSpec } from './schema.ts';
import { decryptSecrets, liveSecrets } from './secrets.ts';
import { readSubscription } from './store.ts';

export type SettingsServices = {
  encrypter: Pick<Encrypter, 'decrypt'>;
  clock: Clock;
  baseUrl: string;
  types: ReadonlyMap<string, EventType>;
};

/**
 * How a subscription is delivered now. The answer holds until its revision changes or a secret of it expires.
 * @returns undefined where there is none
 * @throws MasterKeyError
 */
export async function deliverySettings(
  { encrypter, clock, baseUrl, types: known }: SettingsServices,
  tx: Transaction,
  tenant: string,
  id: string,
): Promise<DeliverySettings | undefined> {
  const [row, tenantRow] = await Promise.all([readSubscription(tx, tenant, id), readTenant(tx, tenant)]);
  if (row === undefined || tenantRow === undefined) return undefined;
  const { endpoint, eventTypes, filters, format, maxPerSecond, numberOfRetries, handshake, paused } = row.spec;
  const secrets = decryptSecrets(encrypter, row);
  const signingSecrets = liveSecrets(secrets, clock.now()).map(({ secret }) => secret);
  const auth = authOf(row.spec, secrets.auth);
  const types = typesOf(eventTypes, [...known.keys()]);
  return {
    ...{ tenant, id, endpoint, types, format, maxPerSecond, numberOfRetries, handshake, signingSecrets },
    enabled: !paused && auth !== undefined && signingSecrets.length > 0,
    matches: matcher(types, filters, tenantRow.spec.tokenMapping.defaultActorType),
    legacyOf: ({ type, body }) => known.get(type)?.legacy?.(body as never) ?? body,
    batch: format === 'cloudevents-batch',
    auth: auth ?? { type: 'none' },
    revision: row.revision,
    source: `${baseUrl}/${tenant}`,
  };
}

/** @returns undefined where its secret is missing */
function authOf({ auth }: SubscriptionSpec, secret: string | undefined): EndpointAuth | undefined {
  if (auth === undefined || auth.type === 'none') return { type: 'none' };
  if (secret === undefined) return undefined;
  const { type, username = '', tokenUrl = '', clientId = '', scope, audience } = auth;
  if (type === 'bearer') return { type, token: secret };
  if (type === 'basic') return { type, username, password: secret };
  return {
    ...{ type, tokenUrl, clientId, clientSecret: secret },
    ...(scope === undefined ? {} : { scope }),
    ...(audience === undefined ? {} : { audience }),
  };
}
