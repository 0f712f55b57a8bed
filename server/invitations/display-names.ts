/** What people read of what is shared: the display names of its types, in their language. */
import { nameIn } from '../core/languages.ts';
import type { RequestTenant } from '../http/fastify.ts';
import { shownNamesOf } from '../types/index.ts';
import type { DisplayNames } from './sharing-schema.ts';

/** `typeKey`: the relationship type, From:rel:To. `what`: what is shared. */
type Named = { typeKey: string; what: { type: string } };

export function displayNamesOf(
  { snapshot }: Pick<RequestTenant, 'snapshot'>,
  { typeKey, what }: Named,
  language: string,
): DisplayNames {
  const of = (key: string) =>
    nameIn(shownNamesOf(snapshot.types, key), language, snapshot.spec.login?.languages?.[0]) ?? key;
  return { relationshipType: of(typeKey), type: of(what.type) };
}

/** For an answer: only where a language is asked for. */
export const withDisplayNames = (
  tenant: Pick<RequestTenant, 'snapshot'>,
  named: Named,
  language: string | undefined,
) => (language === undefined ? {} : { displayNames: displayNamesOf(tenant, named, language) });
