/**
 * Mail addresses, and the form in which two of them are compared. The domain is compared as the DNS does: in A-labels and
 * without case. RFC 5321 section 2.4 lets a host tell local parts apart by case, and no provider does, so the ASCII letters of
 * the local part are compared without case, too. What else one provider takes for the same (dots, what follows a plus) is
 * another mailbox at the next one, and is compared as it stands. Letters with marks are compared in NFC; NFC makes an ASCII K of
 * the Kelvin sign, and a mail server that does not normalize has two mailboxes, so that sign stays what it is.
 */
import { domainToASCII } from 'node:url';
import { bounds, patterns } from '../../crds/index.ts';

type Read = { ok: true; address: string } | { ok: false; detail: string };

/** As patterns.email, and the letters, marks and digits of all scripts (RFC 6531). */
const ADDRESS = /^(?<local>[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_{|}~-]+)@(?<domain>[\p{L}\p{M}\p{N}.-]+)$/u;
const HOST = new RegExp(patterns.host.source);
const NUMBER_AT_END = /(?:^|\.)[0-9]+$/;

const alone = 'Must be the address alone, such as bob@example.org';
const IP_LITERAL = 'Must have a domain name after the @, not an IP address.';
const NO_ADDRESS = `Must be ${patterns.email.words}.`;
/** What RFC 5322 lets stand in or beside an address, and what is said of it. */
const refusals: readonly [found: RegExp, detail: string][] = [
  [/[<>]/, `${alone}: without a display name and angle brackets.`],
  [/[()]/, `${alone}: without a comment in parentheses.`],
  [/"/, `${alone}: without a quoted name or a quoted local part.`],
  [/@\[/, IP_LITERAL],
];

/** All but the one letter that NFC makes ASCII. */
const NORMALIZED = /[^\u212a]+/g;

/** An address in the form in which it is compared, or why it is none. */
export function comparableAddress(text: string): Read {
  const refusal = refusals.find(([found]) => found.test(text));
  if (refusal !== undefined) return { ok: false, detail: refusal[1] };
  const { local, domain } = ADDRESS.exec(text)?.groups ?? {};
  if (local === undefined || domain === undefined) return { ok: false, detail: NO_ADDRESS };
  const host = domainToASCII(domain);
  if (NUMBER_AT_END.test(host)) return { ok: false, detail: IP_LITERAL };
  if (!HOST.test(host)) return { ok: false, detail: `${NO_ADDRESS} ${domain} is not a domain name.` };
  const normalized = local.replace(NORMALIZED, (letters) => letters.normalize('NFC'));
  const address = `${normalized.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())}@${host}`;
  if (address.length <= bounds.emailCharsMax) return { ok: true, address };
  return { ok: false, detail: `Must have at most ${bounds.emailCharsMax} characters, its domain in A-labels.` };
}
