/** Mails that a tenant's back end sends, and what comes back of them. */
import type { By } from '../core/author.ts';
import type { Encrypter } from '../core/encrypter.ts';
import type { IdempotencyReservation } from '../core/idempotency-key.ts';
import { limits } from '../core/limits.ts';
import { comparableAddress } from '../core/mail-address.ts';
import type { Observe } from '../core/observe.ts';
import { type Problem, type ProblemPlace, problem } from '../core/problems.ts';
import { readTenant } from '../tenants/index.ts';
import { type AuditedUnit, type RecordWritten, type WriteServices, write } from '../writes/index.ts';
import { keepMessage } from './actions.ts';
import { mailFailed, SERVICE } from './events.ts';
import { isNoSuchAddress } from './failures.ts';
import { mailProblem } from './problems.ts';
import { chooseTemplate, writeMail } from './rendering.ts';
import type { MessageBody } from './schema.ts';
import { bounceMessage, readMessage } from './store.ts';
import { insertSuppression, isSuppressed, removeSuppression } from './suppression-store.ts';
import { TemplateError } from './template-error.ts';
import { isBuiltIn, sampleVariables, wrongVariables } from './variables.ts';

export type MessageServices = WriteServices & { encrypter: Encrypter; observe: Observe };
type Author = { tenant: string; by: By; idempotency?: IdempotencyReservation };

export function invalidMail(...errors: [ProblemPlace, ...ProblemPlace[]]): Problem {
  return problem('invalid_request', { detail: `${errors[0].pointer}: ${errors[0].detail}`, errors });
}

function wrongOf({ variable, message }: TemplateError): ProblemPlace {
  if (variable === undefined) return { pointer: '/variables', detail: message };
  const [, path = variable] = message.split(': ', 2);
  return { pointer: `/variables/${variable}`, detail: `The template uses ${path}, which has no value.` };
}

/**
 * Sends a mail of a template. @param isTest samples stand for the variables
 * @throws Problem invalid_request for an address, a template or variables that are wrong
 */
export async function sendMessage(
  services: MessageServices,
  author: Author,
  { template, language, to, variables: given = {} }: MessageBody,
  { isTest = false } = {},
): Promise<RecordWritten<string>> {
  const address = comparableAddress(to.value);
  if (!address.ok) throw invalidMail({ pointer: '/to/value', detail: address.detail });
  return write(services, author, { locks: 'records' }, async (unit: AuditedUnit) => {
    const { tx, tenant } = unit;
    const tenantRow = await readTenant(tx, tenant);
    const chosen = await chooseTemplate(tx, tenant, template, language, tenantRow);
    if (chosen === undefined)
      throw invalidMail({ pointer: '/template', detail: `The tenant has no mail template ${template}.` });
    const application = tenantRow?.spec.displayName ?? tenant;
    const samples =
      isBuiltIn(template) && isTest ? sampleVariables(template, { application, language: chosen.language }) : {};
    const variables = { ...(isBuiltIn(template) ? { application } : {}), ...samples, ...given };
    const [wrong, ...more] = isBuiltIn(template) ? wrongVariables(template, variables) : [];
    if (wrong !== undefined) throw invalidMail(wrong, ...more);
    try {
      writeMail(template, chosen, variables);
    } catch (error) {
      if (error instanceof TemplateError) throw invalidMail(wrongOf(error));
      throw error;
    }
    const bytes = Buffer.byteLength(JSON.stringify({ to: to.value, variables }));
    if (bytes > limits.mailVariablesBytesMax)
      throw invalidMail({
        pointer: '/variables',
        detail: `Must have at most ${limits.mailVariablesBytesMax} bytes of JSON with the address.`,
      });
    return keepMessage(services, unit, { template, language, to: to.value, variables });
  });
}

/** `failed`: it did not arrive, and its address may be a good one. */
export type Bounce = { messageId: string; kind: 'hard' | 'failed' | 'soft' | 'complaint' };

const MESSAGE_ID = /^X-Accord-Message:\s*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\s*$/im;
const STATUS = /^Status:\s*([245]\.\d{1,3}\.\d{1,3})(?!\d)/im;

/** What a report says (RFC 3464): which message, by the header that we gave it, and whether it will ever arrive. */
export function readReport(report: string): Bounce | undefined {
  const messageId = MESSAGE_ID.exec(report)?.[1];
  if (messageId === undefined) return undefined;
  if (/^Feedback-Type:\s*abuse/im.test(report)) return { messageId, kind: 'complaint' };
  const status = STATUS.exec(report)?.[1];
  if (status === undefined || status.startsWith('2')) return undefined;
  if (!status.startsWith('5') || !/^Action:\s*failed/im.test(report)) return { messageId, kind: 'soft' };
  return { messageId, kind: isNoSuchAddress(status) ? 'hard' : 'failed' };
}

/**
 * A mail came back: it has failed, and an address that does not exist or complains gets no more.
 * @returns whether the address is suppressed now. A second report changes nothing
 * @throws Problem mail_message_not_found
 */
export async function recordBounce(
  services: MessageServices,
  author: Author,
  { messageId, kind }: Bounce,
): Promise<RecordWritten<boolean>> {
  return write(services, author, { locks: 'records' }, async (unit: AuditedUnit) => {
    const { tx, tenant } = unit;
    const message = await readMessage(tx, tenant, messageId);
    if (message === undefined) throw mailProblem('mail_message_not_found');
    if (kind === 'soft') return false;
    const bounced = await bounceMessage(tx, tenant, messageId, 'bounced');
    // One that waits has not come back; one that has failed is told of for the second time.
    if (bounced === undefined) return isSuppressed(tx, tenant, messageId);
    const { recipient_digest, recipient_mask, template } = bounced;
    unit.emit(mailFailed, { requestor: SERVICE, messageId, template, to: recipient_mask, reason: 'bounced' });
    if (kind === 'failed') return false;
    const reason = kind === 'hard' ? 'bounced' : 'complained';
    await insertSuppression(tx, tenant, { recipient_digest, recipient_mask, reason, at: unit.nowText });
    return true;
  });
}

/** The address gets no more mails that are not transactional. */
export async function unsubscribe(services: MessageServices, tenant: string, digest: string): Promise<void> {
  await write(services, { tenant }, { locks: 'records' }, ({ tx, nowText }) =>
    insertSuppression(tx, tenant, {
      recipient_digest: digest,
      recipient_mask: null,
      reason: 'unsubscribed',
      at: nowText,
    }),
  );
}

/** The address gets mail again. @throws Problem mail_suppression_not_found */
export function liftSuppression(services: MessageServices, author: Author, id: string): Promise<RecordWritten<void>> {
  return write(services, author, { locks: 'records' }, async (unit: AuditedUnit) => {
    if ((await removeSuppression(unit.tx, unit.tenant, id)) === 0) throw mailProblem('mail_suppression_not_found');
    unit.audit({ action: 'lift', kind: 'mail_suppression', name: id });
  });
}
