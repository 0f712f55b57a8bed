/** How records name tokens that are refused: `subject:`, or `grant:` and the client, with the hash of the subject (erasedName). */
import { erasedName } from './claims.ts';

const NAME = /^(subject|grant):([A-Za-z0-9_-]{43})( .*)?$/s;

/** The name without an erased subject, whose hash whoever guesses the id can make; undefined where it names another. */
export function deniedNameWithout(name: string, sub: string, replacement: string): string | undefined {
  const [, kind, hash, client = ''] = NAME.exec(name) ?? [];
  return hash !== undefined && hash === erasedName(sub) ? `${kind}:${replacement}${client}` : undefined;
}
