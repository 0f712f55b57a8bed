/** Issuing receipts: the tenant's name and key, put to the pure receipt. */

import type { Clock } from '../core/clock.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { problem } from '../core/problems.ts';
import { nonRotatingKey } from '../keys/index.ts';
import { readTenant } from '../tenants/index.ts';
import { type ReceiptConsent, receiptOf, signReceipt } from './receipt.ts';

/**
 * A receipt for a consent that the caller has read in this transaction, as a compact JWS.
 * @throws Problem tenant_not_found, MasterKeyError
 */
export async function issueReceipt(
  services: { encrypter: Encrypter; clock: Clock; baseUrl: string },
  tx: Transaction,
  tenant: string,
  consent: ReceiptConsent,
): Promise<string> {
  const { encrypter, clock, baseUrl } = services;
  const row = await readTenant(tx, tenant);
  if (row === undefined) throw problem('tenant_not_found');
  const key = await nonRotatingKey(encrypter, tx, tenant, 'receipt');
  const issuer = { tenant, displayName: row.spec.displayName, baseUrl };
  return signReceipt(key, receiptOf(consent, issuer, clock.now()));
}
