/** What a function refuses with, for the tests of rules. */
import { Problem } from '../../server/core/problems.ts';

type Refusal = { code: string; detail: string; places: [pointer: string, detail: string][] };

/** The code, the sentence and the places of the Problem that `work` throws; undefined when it throws none. */
export function refusalOf(work: () => unknown): Refusal | undefined {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return {
      code: error.code,
      detail: error.message,
      places: (error.errors ?? []).map((place) => [place.pointer ?? '', place.detail]),
    };
  }
  return undefined;
}
