/**
 * Owns how a tenant comes by its first members: when a Tenant is accepted, its support desk and those whom it names as
 * Security Admins are invited, once each, and the links are handed over in Secrets, or in a file where there are none. What
 * cannot be handed over now is tried again, with another secret and never beside the one before.
 */

import { createHash } from 'node:crypto';
import type { TenantSpec } from '../crds/index.ts';
import { limits } from '../server/core/limits.ts';
import {
  findEntrance,
  type InvitationLink,
  inviteForManifest,
  makeInvitationLink,
  recordInvitationReported,
} from '../server/members/index.ts';
import { versionOf } from './accept.ts';
import type { ConditionLine } from './conditions.ts';
import type { Desk } from './desk.ts';
import { writeInvitationFile } from './invitation-file.ts';
import { secretNamespaceOf } from './secrets.ts';
import type { SecretAccess, SourceObject } from './source.ts';

type PendingInvitation = Awaited<ReturnType<typeof inviteForManifest>>[number];

/** Where links go in a source without Secrets. */
export type InvitationFiles = {
  directory: string;
  /** An invitation was written; for a person at a terminal, who sees it once. */
  written?: (tenant: string, link: InvitationLink, path: string) => void;
};

/** Of a support desk whose Tenant names no address: no mail reaches it. */
const SUPPORT_ADDRESS = 'support-desk@localhost';

const labels = { 'app.kubernetes.io/managed-by': 'accord' };

/** What the Tenant's status says besides: whether the first members' links were handed over, and where. */
export async function welcome(desk: Desk, object: SourceObject): Promise<readonly ConditionLine[]> {
  const hand = handOf(desk, object);
  if (hand === undefined) return [];
  const trouble = await inviteOnce(desk, object, hand);
  const { open, links } = await findEntrance(desk.services.invitations, object.name);
  const where = desk.source.secrets ? 'Secrets' : 'files';
  return [
    ...(trouble === undefined
      ? []
      : [{ type: REPORTED, status: 'False' as const, reason: 'NotWritten', message: trouble }]),
    ...(trouble !== undefined || links.length === 0
      ? []
      : [{ type: REPORTED, status: 'True' as const, reason: 'Reported', message: reported(where, links) }]),
    ...(open
      ? []
      : [{ type: 'MemberAccess', status: 'False' as const, reason: 'NoMember', message: closed(object.name) }]),
  ];
}

const REPORTED = 'InvitationsReported';

const reported = (where: string, links: readonly string[]) =>
  `Links that were not used yet are in the ${where} ${links.join(', ')}. Each makes one member, once.`;

const closed = (tenant: string) =>
  'Nobody can enter this tenant: no member has used an invitation, and there is none that can still be used. Name somebody ' +
  'else in spec.securityAdmins, or make an invitation through the Config API with the token that ' +
  `accord token --tenant ${tenant} --role security-admin makes on a server.`;

/** @returns why some could not be handed over; nothing when everything was, now or before */
async function inviteOnce(desk: Desk, object: SourceObject, hand: Hand): Promise<string | undefined> {
  if (!object.checked.ok) return undefined;
  const spec = object.checked.manifest.spec as TenantSpec;
  if (spec.managementPolicy === 'Observe') return undefined;
  const version = versionOf(object);
  const before = desk.welcomed.get(object.name);
  if (before?.version === version && before.trouble === undefined) return undefined;
  const trouble = await inviteAll(desk, object, spec, hand);
  const tries = before?.version === version ? before.tries + 1 : 0;
  desk.welcomed.set(object.name, { version, trouble, tries });
  if (trouble === undefined) return undefined;
  // Ever more seldom: where the operator has no right to Secrets, every Tenant comes here, and a resync looks again too.
  desk.queue.addLater(object.key, limits.reconcileRetryMsMax * 2 ** Math.min(tries, 5));
  if (trouble !== before?.trouble) {
    const target = { ...object, generation: object.generation ?? 1 };
    desk.source.event(target, 'Warning', 'InvitationsNotReported', trouble);
  }
  return trouble;
}

/** @returns why some could not be handed over */
async function inviteAll(desk: Desk, object: SourceObject, spec: TenantSpec, hand: Hand): Promise<string | undefined> {
  const tenant = object.name;
  const { invitations } = desk.services;
  const actor = `operator:${desk.source.name}/${tenant}`;
  const wanted = [
    ...(spec.securityAdmins ?? []).map((email) => ({ email, role: 'security-admin' as const })),
    ...(spec.supportDesk.enabled
      ? [{ email: spec.supportDesk.email ?? SUPPORT_ADDRESS, role: 'support' as const }]
      : []),
  ];
  const troubles: string[] = [];
  for (const pending of await inviteForManifest(invitations, tenant, wanted, actor)) {
    const link = await makeInvitationLink(invitations, tenant, pending.id);
    if (link === undefined) continue;
    const handed = await hand(link, pending);
    if ('to' in handed) await recordInvitationReported(invitations, tenant, link.id, { actor, to: handed.to });
    else troubles.push(handed.trouble);
  }
  return troubles.length === 0 ? undefined : troubles.join('\n');
}

type Handed = { to: string } | { trouble: string };
type Hand = (link: InvitationLink, pending: PendingInvitation) => Promise<Handed>;

function handOf(desk: Desk, object: SourceObject): Hand | undefined {
  const { secrets } = desk.source;
  if (secrets) return (link, pending) => intoSecret(secrets, object, link, pending);
  const files = desk.invitations;
  if (files === undefined) return undefined;
  return async (link) => {
    try {
      const path = await writeInvitationFile(files.directory, object.name, link);
      files.written?.(object.name, link, path);
      return { to: path };
    } catch (error) {
      return { trouble: `The invitation could not be written: ${(error as Error).message}` };
    }
  };
}

async function intoSecret(
  secrets: SecretAccess,
  object: SourceObject,
  { email, url, expiresAt }: InvitationLink,
  pending: PendingInvitation,
): Promise<Handed> {
  const spec = (object.checked as { manifest: { spec: TenantSpec } }).manifest.spec;
  const [namespace, name] = [secretNamespaceOf(object.name, spec), secretNameOf(object.name, pending)];
  const data = { email, url, expiresAt };
  const trouble = (why: string) => ({
    trouble: `The Secret ${namespace}/${name} with an invitation could not be written, and is tried again: ${why}`,
  });
  try {
    if ((await secrets.create(namespace, name, data, labels, object)) === 'created')
      return { to: `${namespace}/${name}` };
    // Ours of a try before, which nobody was told of.
    const updated = await secrets.update(namespace, name, data);
    if (updated === 'updated') return { to: `${namespace}/${name}` };
    return trouble(updated === 'foreign' ? 'there is one that Accord did not make.' : 'it was deleted meanwhile.');
  } catch (error) {
    return trouble((error as Error).message);
  }
}

/** The first Security Admin's has the plain name; those of others end in a digest of the address. */
function secretNameOf(tenant: string, { role, email, place }: PendingInvitation): string {
  const name = role === 'support' ? `${tenant}-support-desk` : `${tenant}-security-admin-invitation`;
  return place === 0 ? name : `${name}-${createHash('sha256').update(email).digest('hex').slice(0, 8)}`;
}
