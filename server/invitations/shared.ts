/**
 * What somebody shares: the invitations of its that wait, what others accepted of it and still have, what it accepted of others, and its
 * own relationships. The tenant's policies say what of it may be ended.
 */
import { createHash } from 'node:crypto';
import type { Caller } from '../core/auth/schema.ts';
import { limits } from '../core/limits.ts';
import {
  deleteRelationship,
  pageOfRelationships,
  type Relationship,
  readHolding,
  relationshipProblem,
} from '../relationships/index.ts';
import { typeKeyOf } from '../types/index.ts';
import { doing, type InvitationServices, type RequestContext, recordAuthorOf } from './authorization.ts';
import { pageOfInvitations } from './list.ts';
import { nameOfInvitor } from './mailed.ts';
import { isAllowed } from './may.ts';
import { invitorOf, relationshipFor, targetOf, typeKeyIn } from './rules.ts';
import type { AcceptedRow, InvitationRow } from './schema.ts';
import { listAccepted } from './store.ts';

/** `id`: names it for one person only. `contact`: masked, whom the invitation went to. `invitor`: its shown name. `since`: RFC 3339. */
export type Shared = {
  id: string;
  /** What is shared, the end of the relationship that the person has not accepted. */
  what: { type: string; id: string };
  /** From:rel:To of the relationship. */
  typeKey: string;
  relationship: Relationship;
  contact?: string;
  invitor?: string;
  since?: string;
  canEnd: boolean;
};
/** `more`: there are more than are listed. */
export type SharedList = { rows: Shared[]; more: boolean };
/** Before a policy is asked whether it may be ended. */
type Found = Omit<Shared, 'canEnd'>;
type FoundList = { rows: Found[]; more: boolean };
export type Invited = {
  id: string;
  what: { type: string; id: string };
  typeKey: string;
  contact: string;
  since: string;
  expiresAt: string;
  canEnd: boolean;
};

export type OwnContext = RequestContext & { caller: Extract<Caller, { kind: 'user' }> };

export const isOwn = (context: RequestContext): context is OwnContext => context.caller.kind === 'user';

const most = limits.accountItemsMax;

/** The invitations that it made and that wait, newest first. */
export async function listInvited(services: InvitationServices, context: OwnContext): Promise<Invited[]> {
  const { rows } = await pageOfInvitations(services, context, { status: 'pending' }, { limit: most });
  return Promise.all(
    rows.map(async (row) => ({
      ...{ id: row.id, what: targetOf(row), typeKey: typeKeyIn(row), contact: row.contact_mask },
      ...{ since: row.created_at, expiresAt: row.expires_at },
      canEnd: await mayRevoke(services, context, row),
    })),
  );
}

/** What others accepted of it and still have, newest first. */
async function findShared(services: InvitationServices, context: OwnContext): Promise<FoundList> {
  const { tenant, caller } = context;
  const accepted = await services.database.read(tenant, (tx) =>
    listAccepted(tx, tenant, { invitor: caller.actor }, most + 1),
  );
  return holdingOf(services, context, accepted, async ({ contact_mask: contact }) => ({ contact }));
}

/** What it accepted of others and still has, newest first, whichever way the relationships lead. */
async function findReceived(services: InvitationServices, context: OwnContext): Promise<FoundList> {
  const { tenant, caller } = context;
  const accepted = await services.database.read(tenant, (tx) =>
    listAccepted(tx, tenant, { acceptor: caller.actor }, most + 1),
  );
  const names = new Map<string, Promise<string | undefined>>();
  const nameOf = (row: AcceptedRow) => {
    const invitor = invitorOf(row);
    const key = `${invitor.type}/${invitor.id}`;
    const name = names.get(key) ?? nameOfInvitor(services, tenant, invitor);
    names.set(key, name);
    return name;
  };
  return holdingOf(services, context, accepted, async (row) => {
    const invitor = await nameOf(row);
    return invitor === undefined ? {} : { invitor };
  });
}

/** Of what was accepted, the relationships that are still there: whoever accepted two invitations to the same has it once. */
async function holdingOf(
  services: InvitationServices,
  context: OwnContext,
  found: readonly AcceptedRow[],
  tell: (row: AcceptedRow) => Promise<Partial<Found>>,
): Promise<FoundList> {
  const { database, clock } = services;
  const { tenant } = context;
  const now = new Date(clock.now()).toISOString();
  const accepted = found.slice(0, most);
  const made = accepted.map((row) => relationshipFor(row, { type: row.acceptor_type, id: row.acceptor_id }));
  const holding = await database.read(tenant, (tx) => readHolding(tx, tenant, made, now));
  const shown = new Map<string, Promise<Found>>();
  const show = async (id: string, row: AcceptedRow, relationship: Relationship): Promise<Found> => ({
    ...{ id, what: targetOf(row), typeKey: typeKeyIn(row), relationship },
    ...{ since: row.accepted_at, ...(await tell(row)) },
  });
  for (const [n, row] of accepted.entries()) {
    const relationship = holding[n];
    if (relationship === undefined) continue;
    const id = idOf(relationship);
    if (!shown.has(id)) shown.set(id, show(id, row, relationship));
  }
  return { rows: await Promise.all(shown.values()), more: found.length > most };
}

/**
 * Its own relationships, where the policy type:relationships:list lets it read them.
 * @returns undefined where it does not
 */
export async function findOwn(services: InvitationServices, context: OwnContext): Promise<FoundList | undefined> {
  const { tenant, caller } = context;
  const { actor } = caller;
  const action = `${actor.type}:relationships:list`;
  if (!(await isAllowed(services, context, { action, resource: actor }))) return undefined;
  const { rows, more } = await pageOfRelationships(services, tenant, 'from', actor, { limit: most });
  const found = rows.map((row): Found => {
    const to = { type: row.to_type, id: row.to_id };
    const expiry = row.expires_at === null ? {} : { expiresAt: row.expires_at };
    const relationship: Relationship = { from: actor, relationshipType: row.name, to, ...expiry };
    const typeKey = typeKeyOf({ from: actor.type, name: row.name, to: to.type });
    return { id: idOf(relationship), what: to, typeKey, relationship };
  });
  return { rows: found, more };
}

/** The same lists, with what the user may end of them now. */
export const listShared = async (services: InvitationServices, context: OwnContext) =>
  withRights(services, context, await findShared(services, context));
export const listReceived = async (services: InvitationServices, context: OwnContext) =>
  withRights(services, context, await findReceived(services, context));

/** @returns undefined where it may not read them */
export async function listOwn(services: InvitationServices, context: OwnContext): Promise<SharedList | undefined> {
  const found = await findOwn(services, context);
  return found && withRights(services, context, found);
}

async function withRights(
  services: InvitationServices,
  context: OwnContext,
  { rows, more }: FoundList,
): Promise<SharedList> {
  const judged = rows.map(async (row) => ({ ...row, canEnd: await mayDelete(services, context, row.relationship) }));
  return { rows: await Promise.all(judged), more };
}

/**
 * Ends what one of the lists showed to it.
 * @throws Problem relationship_not_found, also for what somebody else has; forbidden
 */
export async function endShared(services: InvitationServices, context: OwnContext, id: string) {
  for (const find of [findShared, findReceived, findOwn]) {
    const one = (await find(services, context))?.rows.find((row) => row.id === id);
    if (one === undefined) continue;
    await services.requireAccess(context, deleting(one.relationship));
    return deleteRelationship(services, recordAuthorOf(context), one.relationship);
  }
  throw relationshipProblem('relationship_not_found');
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
