/** Which data subjects lack a consent that the policy names, for explained decisions. Pure. */
import type { ConsentFact, Facts } from '../facts/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import type { Explanation } from './explain.ts';

/** `status`: required if there is no consent at all; not_applicable if actors of the type have none. */
export type MissingConsent = {
  type: string;
  id: string;
  name: string;
  status: ConsentFact['status'] | 'not_applicable';
};

/** @param definitions names of all definitions; the policy names those that occur as a string in its source or its libraries' */
function missingConsents(
  definitions: Iterable<string>,
  source: string,
  { dataSubjects = [] }: Pick<Facts, 'dataSubjects'>,
  consentingType: string,
): MissingConsent[] {
  const named = [...definitions].filter((name) =>
    [JSON.stringify(name), `\`${name}\``].some((text) => source.includes(text)),
  );
  return dataSubjects.flatMap(({ type, id, consents }) =>
    named.flatMap((name) => {
      const { sufficient = false, status = 'required' } = consents.find((one) => one.name === name) ?? {};
      if (sufficient) return [];
      return [{ type, id, name, status: type === consentingType ? status : 'not_applicable' }];
    }),
  );
}

/** An explanation that also names them, where there are any. */
export function withMissingConsents(
  explain: Explanation,
  { definitions, spec }: Pick<TenantSnapshot, 'definitions' | 'spec'>,
  source: string,
  facts: Facts,
): Explanation {
  const missing = missingConsents(definitions.keys(), source, facts, spec.tokenMapping.defaultActorType);
  return missing.length > 0 ? { ...explain, missingConsents: missing } : explain;
}
