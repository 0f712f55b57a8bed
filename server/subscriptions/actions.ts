/** The verbs on subscriptions. The Config API and the operator call the same ones. */
import { isDeepStrictEqual } from 'node:util';
import { authorOf } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import type { Cidr } from '../core/outbound/addresses.ts';
import { checkDeletionOwnership, checkOwnership, type Owner, type Writer } from '../core/ownership.ts';
import { checkPreconditions, type Preconditions } from '../http/config-api.ts';
import type { EventType } from '../room/events.ts';
import { type ConfigWritten, readTenant } from '../tenants/index.ts';
import { type ConfigUnit, type ConfigWriteServices, transferRow, write } from '../writes/index.ts';
import { unknownTypes, type Warning } from './filters.ts';
import { touchLane } from './lane-store.ts';
import { removeLane, resetHealth, startLane } from './lanes/index.ts';
import { subscriptionProblem } from './problems.ts';
import { checkSubscription, keptAuthSecret, subscriptionSpecOf } from './rules.ts';
import type { EntityTypes, SubscriptionRow, SubscriptionSecrets, SubscriptionSpec } from './schema.ts';
import {
  authSecretNames,
  checkAuthSecret,
  checkSigningSecret,
  decryptSecrets,
  encryptSecrets,
  generateSigningSecret,
  liveSecrets,
  rotated,
} from './secrets.ts';
import { countSubscriptions, readSubscription, removeSubscription, updateOwner, upsertSubscription } from './store.ts';

export type SubscriptionServices = ConfigWriteServices & {
  encrypter: Pick<Encrypter, 'encrypt' | 'decrypt'>;
  /** All that there are, by name. */
  types: ReadonlyMap<string, EventType>;
  /** ACCORD_OUTBOUND_ALLOW */
  allow: readonly Cidr[];
  entityTypes: () => EntityTypes;
};

/** Values of secrets; those that are absent stay. */
type GivenSecrets = { signing?: string | undefined; auth?: string | undefined };

/**
 * Makes a subscription, which begins with the next event of the tenant, or changes one; unchanged, it does nothing.
 * @param given of a checked manifest or body; what only a manifest has is left out
 * @returns `signingSecret`: of one that the Config API made, where none was given; `warnings`: what is odd, and stored
 * @throws Problem event_type_unknown, endpoint_refused, endpoint_secret_missing, endpoint_secret_unsuitable,
 *   subscription_quota_reached, precondition_failed, tenant_not_found, and those of ownership; nothing is changed then
 */
export function putSubscription(
  services: SubscriptionServices,
  writer: Writer,
  tenant: string,
  id: string,
  given: SubscriptionSpec,
  options: Preconditions & { secrets?: GivenSecrets } = {},
): Promise<ConfigWritten<{ revision: number; signingSecret?: string; warnings: Warning[] }>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readSubscription(unit.tx, tenant, id);
    const made = row === undefined && isOfApi(writer, given) ? { signingSecret: generateSigningSecret() } : {};
    const secrets = { signing: made.signingSecret, ...options.secrets };
    const revision = await put(services, unit, writer, { id, given, row, secrets, preconditions: options });
    return { revision, ...made, warnings: await warningsOf(services, unit.tx, tenant, given) };
  });
}

/** Filters by types that the tenant does not have now. */
export async function warningsOf(
  { entityTypes }: Pick<SubscriptionServices, 'entityTypes'>,
  tx: Transaction,
  tenant: string,
  { filters }: SubscriptionSpec,
): Promise<Warning[]> {
  if (filters === undefined) return [];
  const [names, row] = await Promise.all([entityTypes().names(tx, tenant), readTenant(tx, tenant)]);
  // The users of consents have the default type, declared or not.
  const known = new Set([...names, ...(row === undefined ? [] : [row.spec.tokenMapping.defaultActorType])]);
  return unknownTypes(filters, known);
}

/** A manifest that only creates leaves its object to the API: it has a Secret nevertheless. */
function isOfApi({ owner }: Writer, { secretRef, generateSecret }: SubscriptionSpec): boolean {
  return owner.source === 'api' && secretRef === undefined && generateSecret === undefined;
}

type Put = {
  id: string;
  given: SubscriptionSpec;
  row: SubscriptionRow | undefined;
  secrets: GivenSecrets;
  preconditions: Preconditions;
};

/** @returns the revision of the row */
async function put(services: SubscriptionServices, unit: ConfigUnit, writer: Writer, of: Put): Promise<number> {
  const { tx, tenant } = unit;
  const { id, row } = of;
  const spec = subscriptionSpecOf(of.given);
  const ownership = checkOwnership(row?.owner, writer, unit.tenantRow.spec.configAuthority);
  checkPreconditions(of.preconditions, row?.revision);
  const others = row === undefined ? await countSubscriptions(tx, tenant) : 0;
  checkSubscription(spec, { types: [...services.types.keys()], allow: services.allow }, others);
  const before = row === undefined ? undefined : { spec: row.spec, secrets: decryptSecrets(services.encrypter, row) };
  const secrets = secretsOf(spec, before, of.secrets, writer, unit.now);
  const isSame =
    row !== undefined &&
    isDeepStrictEqual(row.spec, spec) &&
    isDeepStrictEqual(row.owner, writer.owner) &&
    isDeepStrictEqual(before?.secrets, secrets);
  if (isSame) return row.revision;
  await store(services, unit, writer, { id, spec, secrets });
  if (row === undefined) await startLane(tx, tenant, id);
  else await resetHealth(tx, tenant, id);
  unit.changed('event_subscription', id, ownership === 'adopted' ? 'adopt' : 'put', { endpoint: spec.endpoint });
  return unit.revision;
}

/** @throws Problem endpoint_secret_missing, endpoint_secret_unsuitable */
function secretsOf(
  spec: SubscriptionSpec,
  before: { spec: SubscriptionSpec; secrets: SubscriptionSecrets } | undefined,
  given: GivenSecrets,
  writer: Writer,
  nowMs: number,
): SubscriptionSecrets {
  if (given.signing !== undefined) checkSigningSecret(given.signing);
  const live = before?.secrets.signing ?? [];
  const signing =
    given.signing === undefined ? live : rotated(liveSecrets({ signing: live }, nowMs), given.signing, nowMs);
  if (spec.auth === undefined || spec.auth.type === 'none') return { signing };
  const { type, secretRef } = spec.auth;
  if (given.auth !== undefined) checkAuthSecret(type, given.auth);
  const auth = given.auth ?? keptAuthSecret(before, spec);
  // What a manifest's source cannot read is told by its status.
  if (auth === undefined && secretRef === undefined && writer.owner.source === 'api') {
    const place = {
      pointer: `/auth/${authSecretNames[type]}`,
      detail: 'is required here: it is not stored for this endpoint',
    };
    throw subscriptionProblem('endpoint_secret_missing', { errors: [place] });
  }
  return { signing, ...(auth === undefined ? {} : { auth }) };
}

async function store(
  { encrypter }: SubscriptionServices,
  { tx, tenant, revision }: ConfigUnit,
  writer: Writer,
  { id, spec, secrets }: { id: string; spec: SubscriptionSpec; secrets: SubscriptionSecrets },
): Promise<void> {
  const encrypted = encryptSecrets(encrypter, { tenant, id }, secrets);
  await upsertSubscription(tx, tenant, { id, spec, secrets: encrypted, revision }, writer);
}

/**
 * Gives a subscription of the Config API another secret. Requests have the signatures of both for
 * limits.signingSecretOverlapMs.
 * @throws Problem subscription_not_found, and those of ownership
 */
export function rotateSecret(
  services: SubscriptionServices,
  writer: Writer,
  tenant: string,
  id: string,
): Promise<ConfigWritten<{ signingSecret: string; previousExpiresAt?: string }>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await requireSubscription(unit.tx, tenant, id);
    checkOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
    const before = decryptSecrets(services.encrypter, row);
    const signingSecret = generateSigningSecret();
    const signing = rotated(liveSecrets(before, unit.now), signingSecret, unit.now);
    await store(services, unit, writer, { id, spec: row.spec, secrets: { ...before, signing } });
    await touchLane(unit.tx, { tenant, id });
    unit.changed('event_subscription', id, 'rotate_secret');
    const previousExpiresAt = signing[1]?.expiresAt;
    return { signingSecret, ...(previousExpiresAt === undefined ? {} : { previousExpiresAt }) };
  });
}

/**
 * Removes a subscription. Nothing more is sent to its endpoint.
 * @throws Problem subscription_not_found for an API caller (a manifest's deletion is idempotent), precondition_failed, ownership
 */
export function deleteSubscription(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  id: string,
  options: Preconditions = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const row = await readSubscription(unit.tx, tenant, id);
    if (row === undefined) {
      if (writer.owner.source === 'api') throw subscriptionProblem('subscription_not_found');
      return;
    }
    checkDeletionOwnership(row.owner, writer, unit.tenantRow.spec.configAuthority);
    checkPreconditions(options, row.revision);
    await removeLane(unit.tx, tenant, id);
    await removeSubscription(unit.tx, tenant, id);
    unit.changed('event_subscription', id, 'delete', { endpoint: row.spec.endpoint });
  });
}

/** Gives the writer's subscription to another owner as it is; does nothing when it is not (any more) the writer's. */
export function transferSubscription(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  id: string,
  to: Owner,
): Promise<ConfigWritten<void>> {
  const row = {
    kind: 'event_subscription' as const,
    name: id,
    ownerOf: async (tx: Transaction) => (await readSubscription(tx, tenant, id))?.owner,
    setOwner: (tx: Transaction, owner: Owner) => updateOwner(tx, tenant, id, owner),
  };
  return transferRow(services, tenant, writer, row, to);
}

/** @throws Problem subscription_not_found */
export async function requireSubscription(tx: Transaction, tenant: string, id: string): Promise<SubscriptionRow> {
  const row = await readSubscription(tx, tenant, id);
  if (row === undefined) throw subscriptionProblem('subscription_not_found');
  return row;
}
