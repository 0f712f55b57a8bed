/** The verb that issues a receipt for a consent: signed by the tenant, and in the ledger as a read. */
import { problem } from '../core/problems.ts';
import { documentUrl } from '../definitions/index.ts';
import { issueReceipt } from '../ledger/index.ts';
import { consentProblem } from './problems.ts';
import { type ConsentServices, entryOf, type RequestContext, userOf } from './request-context.ts';
import { consentView } from './rules.ts';
import type { ConsentRow } from './schema.ts';
import { readConsent } from './store.ts';

export type ReceiptServices = Omit<Parameters<typeof issueReceipt>[0], 'clock'>;

/** A compact JWS. @throws Problem consent_not_found, forbidden for another user's */
export async function readReceipt(
  services: ConsentServices & ReceiptServices,
  context: RequestContext,
  id: string,
): Promise<string> {
  const { tenant } = context;
  const own = userOf(context);
  const { row, receipt } = await services.database.tenant(tenant, async (tx) => {
    const found = await readConsent(tx, tenant, id);
    if (found === undefined) throw consentProblem('consent_not_found');
    if (own !== undefined && found.user_id !== own) {
      throw problem('forbidden', { detail: 'Users can read receipts only of their own consents.' });
    }
    return { row: found, receipt: await issueReceipt(services, tx, tenant, receiptConsent(services, tenant, found)) };
  });
  const { user_id: userId, definition: name, version, document, language } = row;
  const about = { userId, name, version, document: { version: document, language } };
  await services.ledger.append(tenant, [
    entryOf(context, { ...about, type: 'read', time: services.clock.now(), outcome: 'receipt' }),
  ]);
  return receipt;
}

function receiptConsent({ baseUrl }: ReceiptServices, tenant: string, row: ConsentRow) {
  const view = consentView(row);
  return { ...view, documentUrl: documentUrl(baseUrl, tenant, view) };
}
