/** What an attempt to send a mail came to, and writing that with the events that tell of it. */
import { delayMsAfter, jittered } from '../core/backoff.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import type { RecordUnit } from '../writes/index.ts';
import { mailFailed, mailSent, SERVICE } from './events.ts';
import { type Outcome, postponeMessages, settleMessages, type WaitingRow } from './store.ts';
import { insertSuppression } from './suppression-store.ts';
import type { SendResult } from './transport.ts';

/** `isUnknown`: the mail server does not know the address. */
export type Result = {
  outcome: 'sent' | 'postponed' | 'refused' | 'suppressed' | 'template';
  answer?: string;
  isUnknown?: boolean;
};
export type Ended = Result & { row: WaitingRow };

export function resultOf(result: SendResult): Result {
  if (result.ok) return { outcome: 'sent', answer: result.answer };
  const { kind, answer } = result;
  return kind === 'soft'
    ? { outcome: 'postponed', answer }
    : { outcome: 'refused', answer, isUnknown: kind === 'unknown' };
}

/** Writes what became of some mails of the unit's tenant. */
export async function recordEnded(unit: RecordUnit, ended: readonly Ended[]): Promise<void> {
  const { tx, tenant, now, nowText: at } = unit;
  const [later, final] = [ended.filter(isPostponed), ended.filter((one) => !isPostponed(one))];
  if (later.length > 0)
    await postponeMessages(
      tx,
      tenant,
      later.map((one) => postponed(one, now)),
    );
  if (final.length === 0) return;
  const settled = await settle(unit, final.map(outcomeOf), 'attempted');
  const unknown = new Set(final.filter(({ isUnknown }) => isUnknown).map(({ row }) => row.id));
  for (const { id, recipient_digest, recipient_mask } of settled) {
    if (!unknown.has(id)) continue;
    await insertSuppression(tx, tenant, { recipient_digest, recipient_mask, reason: 'bounced', at });
  }
}

const isPostponed = ({ outcome }: Ended) => outcome === 'postponed';

function postponed({ row, answer = '' }: Ended, now: number) {
  const bounds = { minMs: limits.mailRetryMsMin, maxMs: limits.mailRetryMsMax };
  return { id: row.id, nextAt: utc(now + jittered(delayMsAfter(row.attempts + 1, bounds))), answer };
}

function outcomeOf({ row, outcome, answer }: Ended): Outcome & { id: string } {
  const { id } = row;
  return outcome === 'sent'
    ? { id, status: 'sent', answer }
    : { id, status: 'failed', reason: outcome, answer: answer || undefined };
}

/** Ends mails that wait, and tells of them. */
export async function settle(
  unit: RecordUnit,
  outcomes: readonly (Outcome & { id: string })[],
  which: 'attempted' | 'expired',
) {
  const settled = await settleMessages(unit.tx, unit.tenant, outcomes, { now: unit.nowText, which });
  for (const { id: messageId, template, recipient_mask: to, status, reason, answer } of settled) {
    const about = { requestor: SERVICE, messageId, template, to };
    if (status === 'sent') unit.emit(mailSent, about);
    else unit.emit(mailFailed, { ...about, reason: reason ?? '', ...(answer === null ? {} : { answer }) });
  }
  return settled;
}
