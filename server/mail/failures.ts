/** What an attempt to send a mail failed for, and whether the address is to blame; pure. */
import { answerOf } from './rules.ts';

/** As nodemailer has it. */
export type SmtpError = Error & { code?: string; command?: string; responseCode?: number; response?: string };

/** `soft`: it may go well later. `hard`: the mail is refused. `unknown`: the address does not exist. */
export type SendFailure = { ok: false; kind: 'soft' | 'hard' | 'unknown'; answer: string };

/** Enhanced codes (RFC 3463) that say that an address does not exist; all others speak of now, of us or of the mail. */
const NO_SUCH_ADDRESS: ReadonlySet<string> = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10']);

export const isNoSuchAddress = (enhancedCode: string | undefined): boolean =>
  enhancedCode !== undefined && NO_SUCH_ADDRESS.has(enhancedCode);

/** 5xx to the address and to the message will not go well later, all else may. */
export function failureOf(error: unknown): SendFailure {
  const { command, responseCode, response, message } = error as SmtpError;
  const answer = answerOf(response ?? message);
  if (responseCode === undefined || responseCode < 500) return { ok: false, kind: 'soft', answer };
  if (command === 'RCPT TO') {
    const enhancedCode = /^5\d\d[ -](5\.\d{1,3}\.\d{1,3})(?!\S)/.exec(answer)?.[1];
    return { ok: false, kind: isNoSuchAddress(enhancedCode) ? 'unknown' : 'hard', answer };
  }
  return { ok: false, kind: command === 'DATA' ? 'hard' : 'soft', answer };
}
