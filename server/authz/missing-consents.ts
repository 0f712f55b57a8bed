/** Which data subjects lack a consent that the policy names, for explained decisions. Pure. */
import type { ConsentFact, Facts } from '../facts/index.ts';

/** `status`: required if there is no consent at all. */
export type MissingConsent = { type: string; id: string; name: string; status: ConsentFact['status'] };

/** @param definitions names of all definitions; the policy names those that occur as a string in its source */
export function missingConsents(
  definitions: Iterable<string>,
  source: string,
  { dataSubjects = [] }: Pick<Facts, 'dataSubjects'>,
): MissingConsent[] {
  const named = [...definitions].filter((name) =>
    [JSON.stringify(name), `\`${name}\``].some((text) => source.includes(text)),
  );
  return dataSubjects.flatMap(({ type, id, consents }) =>
    named.flatMap((name) => {
      const { sufficient = false, status = 'required' } = consents.find((one) => one.name === name) ?? {};
      return sufficient ? [] : [{ type, id, name, status }];
    }),
  );
}
