/** What is asked of `POST /authz/{tenant}`. `action` is the name of the policy. */
export type Question = {
  subject: { type: string; id: string; [attribute: string]: unknown };
  action: string;
  resource?: Record<string, unknown>;
  context?: Record<string, unknown>;
};

export type Decision = {
  /** allow, deny, or what the policy defines. */
  outcome: string | Record<string, unknown>;
  reason?: string;
  /** What must be fulfilled to obtain authorization. */
  obligations?: string[];
};

/** Fails closed: true only for the word allow, with nothing left to be fulfilled. */
export function isAllowed(decision: Decision | undefined): boolean {
  if (decision?.outcome !== 'allow') return false;
  const { obligations } = decision;
  return obligations === undefined || (Array.isArray(obligations) && obligations.length === 0);
}
