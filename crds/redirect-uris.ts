/**
 * Rules for URIs that a browser is sent to with a code or after a log-out. They are compared character by character (RFC 9700
 * section 2.1), so what browsers read otherwise than it is written is refused.
 */
import { path, optionalPort as port, query } from './patterns.ts';
import { matching, notMatching, type Rule, rule } from './rule.ts';

// The API server prices an expression by its length, so these are as short as their languages allow.
// Labels that neither begin nor end with a hyphen.
const host = '(?:[A-Za-z0-9]+(?:(?:\\.|-+)[A-Za-z0-9]+)*|\\[[0-9A-Fa-f:.]+\\])';
const loopback = '(?:localhost|127\\.0\\.0\\.1|\\[::1\\])';
/** RFC 8252 section 7.1: a domain name of the vendor in reverse order, so that no other app has the same one. */
const scheme = '[a-z][a-z0-9+-]*(?:\\.[a-z0-9+-]+)+';
const privatePath = '/[!$-;=A-Z_a-z~]*';

const shape = `^(?:(?:https://${host}|http://${loopback})${port}${path}|${scheme}:${privatePath})${query}$`;
/** What browsers resolve, servers behind parameters of a segment too (`..;/`), and what some of them read as a slash. */
const ambiguous = '/(?:\\.|%2[Ee]){1,2}(?:;[^/?]*)?(?:[/?]|$)|%5[Cc]|%00';

/** @param at JSON Pointer of the list */
export function redirectUriRules(at: string): readonly Rule[] {
  const one = `${at}/*`;
  return [
    rule<string>({
      at: one,
      message:
        'must be an https URL, an http URL of localhost, 127.0.0.1 or [::1], or a URI of a private scheme such as com.example.app:/callback, without user information or a fragment',
      ...matching(shape),
    }),
    rule<string>({
      at: one,
      message: 'must not have the path segments . and .., a backslash or NUL, in plain or encoded form',
      ...notMatching(ambiguous),
    }),
  ];
}
