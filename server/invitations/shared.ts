/**
 * What somebody shares, for its own page: the invitations of its that wait, what others accepted of it and still have, and its own
 * relationships. The tenant's policies say what of it may be ended, as they do at the API.
 */
import { createHash } from 'node:crypto';
import type { Caller } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import { deleteRelationship, pageOfRelationships, type Relationship, readHolding } from '../relationships/index.ts';
import { doing, type InvitationServices, type RequestContext, recordAuthorOf } from './authorization.ts';
import { pageOfInvitations } from './list.ts';
import { relationshipFor, targetOf } from './rules.ts';
import type { InvitationRow } from './schema.ts';
import { listAccepted } from './store.ts';

/** `id`: names it for one person only. `contact`: masked, whom the invitation went to. `since`: RFC 3339. */
export type Shared = {
  id: string;
  /** What is shared, the end of the relationship that the person has not accepted. */
  what: { type: string; id: string };
  relationship: Relationship;
  contact?: string;
  since?: string;
  canEnd: boolean;
};
export type Invited = {
  id: string;
  what: { type: string; id: string };
  relationshipType: string;
  contact: string;
  since: string;
  expiresAt: string;
  canEnd: boolean;
};

export type OwnContext = RequestContext & { caller: Extract<Caller, { kind: 'user' }> };

const most = limits.accountItemsMax;

/** The invitations that it made and that wait, newest first. */
export async function listInvited(services: InvitationServices, context: OwnContext): Promise<Invited[]> {
  const { rows } = await pageOfInvitations(services, context, { status: 'pending' }, { limit: most });
  return Promise.all(
    rows.map(async (row) => ({
      ...{ id: row.id, what: targetOf(row), relationshipType: row.name, contact: row.contact_mask },
      ...{ since: row.created_at, expiresAt: row.expires_at },
      canEnd: await mayRevoke(services, context, row),
    })),
  );
}

/** What others accepted of it and still have, newest first. */
export async function listShared(services: InvitationServices, context: OwnContext): Promise<Shared[]> {
  const { database, clock } = services;
  const { tenant, caller } = context;
  const now = new Date(clock.now()).toISOString();
  const accepted = await database.read(tenant, (tx) => listAccepted(tx, tenant, caller.actor, most));
  const made = accepted.map((row) => relationshipFor(row, { type: row.acceptor_type, id: row.acceptor_id }));
  const holding = await database.read(tenant, (tx) => readHolding(tx, tenant, made, now));
  const known = new Set<string>();
  const shown: Promise<Shared>[] = [];
  for (const [n, row] of accepted.entries()) {
    const relationship = holding[n];
    if (relationship === undefined) continue;
    const id = idOf(relationship);
    const { contact_mask: contact, accepted_at: since } = row;
    // Who accepted two invitations to the same has it once.
    if (known.has(id)) continue;
    known.add(id);
    shown.push(
      mayDelete(services, context, relationship).then((canEnd) => ({
        ...{ id, what: targetOf(row), relationship, contact, since, canEnd },
      })),
    );
  }
  return Promise.all(shown);
}

/**
 * Its own relationships, where the policy type:relationships:list lets it read them.
 * @returns undefined where it does not
 */
export async function listOwn(services: InvitationServices, context: OwnContext): Promise<Shared[] | undefined> {
  const { tenant, caller } = context;
  const { actor } = caller;
  const action = `${actor.type}:relationships:list`;
  if (!(await isAllowed(services, context, { action, resource: actor }))) return undefined;
  const { rows } = await pageOfRelationships(services, tenant, 'from', actor, { limit: most });
  return Promise.all(
    rows.map(async (row) => {
      const to = { type: row.to_type, id: row.to_id };
      const expiry = row.expires_at === null ? {} : { expiresAt: row.expires_at };
      const relationship: Relationship = { from: actor, relationshipType: row.name, to, ...expiry };
      return {
        id: idOf(relationship),
        what: to,
        relationship,
        canEnd: await mayDelete(services, context, relationship),
      };
    }),
  );
}

/**
 * Ends what listShared or listOwn showed to it.
 * @throws Problem forbidden as the API, relationship_not_found
 */
export async function endShared(services: InvitationServices, context: OwnContext, shared: Shared): Promise<void> {
  const { relationship } = shared;
  await services.requireAccess(context, deleting(relationship));
  await deleteRelationship(services, recordAuthorOf(context), relationship);
}

function idOf({ from, relationshipType, to }: Relationship): string {
  const name = JSON.stringify([from.type, from.id, relationshipType, to.type, to.id]);
  return createHash('sha256').update(name).digest('base64url');
}

function deleting({ from, relationshipType, to }: Relationship) {
  const action = `${from.type}:${relationshipType}:${to.type}:delete`;
  return { action, resource: to, relationship: { from, relationshipType, to } };
}

const mayDelete = (services: InvitationServices, context: OwnContext, relationship: Relationship) =>
  isAllowed(services, context, deleting(relationship));

const mayRevoke = (services: InvitationServices, context: OwnContext, row: InvitationRow) =>
  isAllowed(services, context, doing(services, context, 'revoke', row));

/** Where there is no policy of the name, nothing is asked. */
async function isAllowed(
  { checkAccess }: InvitationServices,
  context: OwnContext,
  question: Parameters<InvitationServices['checkAccess']>[1],
): Promise<boolean> {
  if (!context.requestTenant.snapshot.policies.has(question.action)) return false;
  return (await checkAccess(context, question)).answer.outcome === 'allow';
}
