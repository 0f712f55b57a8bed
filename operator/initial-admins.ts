/**
 * How a tenant comes by its first members: when a Tenant is accepted, its support desk and those whom it names as
 * Security Admins are invited, once each, and the links are handed over in Secrets, or in a file where there are none. What
 * cannot be handed over now is tried again, with another secret and never beside the one before.
 */

import { createHash } from 'node:crypto';
import type { TenantSpec } from '../crds/index.ts';
import { delayMsAfter } from '../server/core/backoff.ts';
import { limits } from '../server/core/limits.ts';
import {
  createMemberInvitationLink,
  findTenantAccess,
  inviteMembersOfManifest,
  type MemberInvitationLink,
  recordMemberInvitationDelivered,
} from '../server/members/index.ts';
import type { ConditionLine } from './conditions.ts';
import { writeInvitationFile } from './invitation-file.ts';
import type { StepServices } from './services.ts';
import type { Key, SecretAccess, Source, SourceObject } from './source.ts';
import { secretNamespaceOf } from './tenant-secrets.ts';
import { versionOf } from './tenant-tracker.ts';

type PendingInvitation = Awaited<ReturnType<typeof inviteMembersOfManifest>>[number];

/** Where links go in a source without Secrets. */
export type InvitationFiles = {
  directory: string;
  /** An invitation was written; for a person at a terminal, who sees it once. */
  written?: (tenant: string, link: MemberInvitationLink, path: string) => void;
};

/** Of a support desk whose Tenant names no address: no mail reaches it. */
const SUPPORT_ADDRESS = 'support-desk@localhost';

const labels = { 'app.kubernetes.io/managed-by': 'accord' };

const DELIVERED = 'InvitationsDelivered';

const RETRY = { minMs: limits.reconcileRetryMsMax, maxMs: 32 * limits.reconcileRetryMsMax };

type InitialAdminsOptions = {
  source: Source;
  services: StepServices;
  files: InvitationFiles | undefined;
  /** Looks at a Tenant again after this time. */
  retryIn: (key: Key, ms: number) => void;
};

export class InitialAdmins {
  readonly #options: InitialAdminsOptions;
  /** Which version of each Tenant was worked off, and why some of its links could not be delivered. */
  readonly #done = new Map<string, { version: string; failure: string | undefined; tries: number }>();

  constructor(options: InitialAdminsOptions) {
    this.#options = options;
  }

  /**
   * Invites whom an accepted Tenant names, where that was not done before.
   * @returns the conditions that say whether the links were delivered, where to, and whether anybody can enter the tenant
   */
  async inviteInitialAdmins(object: SourceObject): Promise<readonly ConditionLine[]> {
    const { source, services, files } = this.#options;
    const deliver = deliveryOf(source, files, object);
    if (deliver === undefined) return [];
    const failure = await this.#inviteOnce(object, deliver);
    const { open, links } = await findTenantAccess(services.members, object.name);
    const conditions: ConditionLine[] = [];
    if (failure !== undefined) {
      conditions.push({ type: DELIVERED, status: 'False', reason: 'WriteFailed', message: failure });
    } else if (links.length > 0) {
      const message = describeDelivered(source.secrets ? 'Secrets' : 'files', links);
      conditions.push({ type: DELIVERED, status: 'True', reason: 'Delivered', message });
    }
    if (!open) {
      const message = describeNoMember(object.name);
      conditions.push({ type: 'MemberAccess', status: 'False', reason: 'NoMember', message });
    }
    return conditions;
  }

  /** Nothing is left of the Tenant. */
  forget(tenant: string): void {
    this.#done.delete(tenant);
  }

  /** Another operator may have been at work. */
  clear(): void {
    this.#done.clear();
  }

  /** @returns why some could not be delivered; undefined when all were, now or before */
  async #inviteOnce(object: SourceObject, deliver: Deliver): Promise<string | undefined> {
    if (!object.checked.ok) return undefined;
    const spec = object.checked.manifest.spec as TenantSpec;
    if (spec.managementPolicy === 'Observe') return undefined;
    const version = versionOf(object);
    const before = this.#done.get(object.name);
    if (before?.version === version && before.failure === undefined) return undefined;
    const failure = await this.#inviteAll(object, spec, deliver);
    const tries = before?.version === version ? before.tries + 1 : 0;
    this.#done.set(object.name, { version, failure, tries });
    if (failure === undefined) return undefined;
    const { source, retryIn } = this.#options;
    // Ever more seldom: where the operator has no right to Secrets, every Tenant comes here, and a resync looks again too.
    retryIn(object.key, delayMsAfter(tries + 1, RETRY));
    if (failure !== before?.failure) {
      const target = { ...object, generation: object.generation ?? 1 };
      source.event(target, 'Warning', 'InvitationsWriteFailed', failure);
    }
    return failure;
  }

  /** @returns why some could not be delivered */
  async #inviteAll(object: SourceObject, spec: TenantSpec, deliver: Deliver): Promise<string | undefined> {
    const tenant = object.name;
    const { source, services } = this.#options;
    const { members } = services;
    const actor = `operator:${source.name}/${tenant}`;
    const wanted = [
      ...(spec.securityAdmins ?? []).map((email) => ({ email, role: 'security-admin' as const })),
      ...(spec.supportDesk.enabled
        ? [{ email: spec.supportDesk.email ?? SUPPORT_ADDRESS, role: 'support' as const }]
        : []),
    ];
    const failures: string[] = [];
    for (const pending of await inviteMembersOfManifest(members, tenant, wanted, actor)) {
      const link = await createMemberInvitationLink(members, tenant, pending.id);
      if (link === undefined) continue;
      const delivered = await deliver(link, pending);
      if ('to' in delivered)
        await recordMemberInvitationDelivered(members, tenant, link.id, { actor, to: delivered.to });
      else failures.push(delivered.failure);
    }
    return failures.length === 0 ? undefined : failures.join('\n');
  }
}

const describeDelivered = (where: string, links: readonly string[]) =>
  `Unused invitation links are in the ${where} ${links.join(', ')}. Each link creates one member and works once.`;

const describeNoMember = (tenant: string) =>
  'Nobody has access to this tenant: no member has accepted an invitation, and no invitation is valid any more. Add an ' +
  'address to spec.securityAdmins, or create an invitation through the Config API with a token of ' +
  `accord token --tenant ${tenant} --role security-admin, run on a server.`;

type Delivered = { to: string } | { failure: string };
type Deliver = (link: MemberInvitationLink, pending: PendingInvitation) => Promise<Delivered>;

function deliveryOf(
  { secrets }: Source,
  files: InvitationFiles | undefined,
  object: SourceObject,
): Deliver | undefined {
  if (secrets) return (link, pending) => intoSecret(secrets, object, link, pending);
  if (files === undefined) return undefined;
  return async (link) => {
    try {
      const path = await writeInvitationFile(files.directory, object.name, link);
      files.written?.(object.name, link, path);
      return { to: path };
    } catch (error) {
      return { failure: `The invitation could not be written: ${(error as Error).message}` };
    }
  };
}

async function intoSecret(
  secrets: SecretAccess,
  object: SourceObject,
  { email, url, expiresAt }: MemberInvitationLink,
  pending: PendingInvitation,
): Promise<Delivered> {
  const spec = (object.checked as { manifest: { spec: TenantSpec } }).manifest.spec;
  const [namespace, name] = [secretNamespaceOf(object.name, spec), secretNameOf(object.name, pending)];
  const data = { email, url, expiresAt };
  const failure = (why: string) => ({
    failure: `The Secret ${namespace}/${name} with an invitation could not be written. The operator retries: ${why}`,
  });
  try {
    if ((await secrets.create(namespace, name, data, labels, object)) === 'created')
      return { to: `${namespace}/${name}` };
    // Ours of a try before, which nobody was told of.
    const updated = await secrets.update(namespace, name, data);
    if (updated === 'updated') return { to: `${namespace}/${name}` };
    return failure(
      updated === 'foreign'
        ? 'a Secret of this name exists that Accord did not create.'
        : 'the Secret was deleted in the meantime.',
    );
  } catch (error) {
    return failure((error as Error).message);
  }
}

/** The first Security Admin's has the plain name; those of others end in a digest of the address. */
function secretNameOf(tenant: string, { role, email, place }: PendingInvitation): string {
  const name = role === 'support' ? `${tenant}-support-desk` : `${tenant}-security-admin-invitation`;
  return place === 0 ? name : `${name}-${createHash('sha256').update(email).digest('hex').slice(0, 8)}`;
}
