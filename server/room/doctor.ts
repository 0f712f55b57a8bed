/** What `accord doctor` looks at: a room states checks of what it needs, and each of them says what it found and what to do. */

/** `warning`: it works, and something should be done. `error`: something does not work. */
export type DoctorFinding = {
  status: 'ok' | 'warning' | 'error';
  /** What was found, in a sentence without a full stop. */
  found: string;
  /** What to do; where it is not ok. */
  remedy?: string;
  tenant?: string;
};

export type DoctorCheck = {
  /** Unique, in small letters: `trusted issuers`. */
  name: string;
  /** Changes nothing. What it throws is a finding, too. */
  run(): Promise<readonly DoctorFinding[]>;
};

/** Findings of some, and what is said when there are none. */
export function unlessFound(found: readonly DoctorFinding[], ok: string): readonly DoctorFinding[] {
  return found.length > 0 ? found : [{ status: 'ok', found: ok }];
}
