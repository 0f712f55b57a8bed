/** What the routes of a person answer (docs/openapi.json). */
export type Entity = { type: string; id: string };
export type Found = Entity & { by: 'id' | 'account' | 'invitation' };
export type About = Entity & {
  displayName?: string;
  attributes?: Record<string, unknown>;
  account?: { email: string };
  firstSeen?: string;
  lastSeen?: string;
  truncated?: Truncated;
};
/** Kinds of which there are more than were looked at, and how many of each direction were. */
export type Truncated = { kind: Kind; recordsMax: number }[];
export const kinds = ['relationship', 'invitation', 'consent', 'decision', 'mail', 'audit'] as const;
export type Kind = (typeof kinds)[number];
export type Item = {
  at: string;
  id: string;
  kind: Kind;
  what: string;
  from?: Entity;
  to?: Entity;
  relationshipType?: string;
  expiresAt?: string;
  invitationId?: string;
  status?: string;
  contact?: string;
  name?: string;
  version?: string;
  outcome?: string;
  action?: string;
  resource?: { type?: string; id?: string };
  reason?: string;
  template?: string;
  by?: string;
  objectKind?: string;
  requestId?: string;
};
export type Relationship = { from: Entity; relationshipType: string; to: Entity; expiresAt?: string };
export type Consent = {
  id: string;
  name: string;
  version: string;
  givenAt: string;
  status: string;
  document: { version: string; language: string };
};

export const text = ({ type, id }: { type?: string; id?: string }) =>
  [type, id].filter((one) => one !== undefined).join('/');
/** user/alice, or alice alone where the text has no type. */
export function entityOf(given: string, type: string): Entity {
  const at = given.indexOf('/');
  return at < 1 ? { type, id: given } : { type: given.slice(0, at), id: given.slice(at + 1) };
}
