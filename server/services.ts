/** Owns putting the rooms together: one object that app.ts, the operator and the CLI take what they need from. */
import { randomUUID } from 'node:crypto';
import type { AccessServices } from './access.ts';
import { erasingAudit } from './audit/index.ts';
import { type AuthzRouteServices, Batches, DecisionLog, Explainer, erasingDecisions } from './authz/index.ts';
import type { AuthzenServices } from './authzen/index.ts';
import {
  ConsentBatchWriter,
  ConsentHistory,
  type ConsentRouteServices,
  erasingConsents,
  readConsentFacts,
} from './consents/index.ts';
import type { JwksCache } from './core/auth/jwks.ts';
import { createOutbound } from './core/auth/outbound.ts';
import { AccessTokens } from './core/auth/token-cache.ts';
import { type Clock, systemClock } from './core/clock.ts';
import { type Config, requireVariable } from './core/config.ts';
import { Database } from './core/db/database.ts';
import type { FenceOptions } from './core/db/fence.ts';
import { FairScheduler } from './core/fair-scheduler.ts';
import { createMetrics, type Metrics } from './core/metrics.ts';
import type { Observe } from './core/observe.ts';
import type { DefinitionRouteServices } from './definitions/index.ts';
import type { ErasureServices } from './erasure/index.ts';
import { FactGatherer } from './facts/index.ts';
import { type FencedServices, fencedServices, tenantsOf } from './fenced.ts';
import { askingPolicies, governedByPolicies } from './governing.ts';
import { erasingIdempotency, type IdempotencyServices } from './idempotency/index.ts';
import {
  endInvitations,
  erasingInvitations,
  type InvitationRouteServices,
  pendingInvitationOf,
} from './invitations/index.ts';
import type { IssuerRouteServices, KeyFindings } from './issuers/index.ts';
import {
  createSealer,
  type KeyRouteServices,
  type MintServices,
  openInstallationKey,
  PublishedKeys,
  type Sealer,
} from './keys/index.ts';
import { erasingLedger, Ledger, type LedgerRouteServices, RefusalRecorder, type SealServices } from './ledger/index.ts';
import {
  authenticateMember,
  type InvitationServices,
  type MemberRouteServices,
  type PortalServices,
  recordSupportUse,
} from './members/index.ts';
import { observers } from './observers.ts';
import { issuerKeys, outboundOptions } from './outside.ts';
import { Artifacts, Engine, type PolicyRouteServices } from './policies/index.ts';
import { createCompiler } from './rego/index.ts';
import { erasingRelationships, GraphReader, type RelationshipRouteServices } from './relationships/index.ts';
import { Snapshots, type TenantSnapshot } from './snapshot/index.ts';
import { type TenantServices, tenantProblem } from './tenants/index.ts';
import type { TypeRouteServices } from './types/index.ts';
import type { EventSink, WriteServices } from './writes/index.ts';

export type Services = {
  config: Config;
  clock: Clock;
  observe: Observe;
  metrics: Metrics;
  baseUrl: string;
  database: Database;
  snapshots: Snapshots;
  /** Loads the Rego compiler in the background, so that the first policy does not wait for it. */
  prepareCompiler: () => void;
  tenants: TenantServices;
  mint: MintServices;
  portal: PortalServices;
  access: AccessServices;
  policies: PolicyRouteServices;
  authz: AuthzRouteServices;
  authzen: AuthzenServices;
  types: TypeRouteServices;
  definitions: DefinitionRouteServices;
  relationships: RelationshipRouteServices;
  sharing: InvitationRouteServices;
  issuers: IssuerRouteServices;
  keyFindings: KeyFindings;
  members: MemberRouteServices;
  invitations: InvitationServices;
  keys: KeyRouteServices;
  ledger: Ledger;
  consents: ConsentRouteServices;
  register: LedgerRouteServices;
  sealing: SealServices;
  idempotency: IdempotencyServices;
  erasure: ErasureServices;
  /** What writes configuration, each transaction of it bound to a term: for a writer that is not alone. */
  fenced(fence: FenceOptions): FencedServices;
  close(): Promise<void>;
};

/** `events`: takes what actions emit; without it, nothing of that is kept. */
export type ServiceOptions = { observe?: Observe; clock?: Clock; applicationName: string; events?: EventSink };

/** {base_url}: what callers reach the APIs by, and what issuers are named after. */
export function baseUrlOf(config: Config): string {
  return config.ACCORD_BASE_URL ?? `http://${config.ACCORD_LISTEN}`;
}

/**
 * Connects, checks that the database confines us and that the master key opens what it holds, and builds the rooms.
 * Snapshots are not started here: a process that only operates serves nobody.
 * @throws ConfigError, MasterKeyError, or the database's error
 */
export async function createServices(config: Config, options: ServiceOptions): Promise<Services> {
  const clock = options.clock ?? systemClock;
  const { observe, attach } = observers(config, options.observe);
  const url = requireVariable(config, 'ACCORD_DATABASE_URL', options.applicationName);
  const sealer = createSealer(requireVariable(config, 'ACCORD_MASTER_KEY', options.applicationName));
  const poolMax = config.ACCORD_DATABASE_POOL;
  const database = new Database({ url, poolMax, applicationName: `accord-${options.applicationName}`, observe });
  try {
    await database.assertConfined();
    const installationKey = await openInstallationKey({ database, sealer });
    const baseUrl = baseUrlOf(config);
    const published = new PublishedKeys(database);
    const following = { server: randomUUID(), maxStalenessMs: config.ACCORD_MAX_STALENESS * 1000 };
    const snapshots = snapshotsOf({ ...following, database, baseUrl, clock, observe }, published);
    const outbound = createOutbound(await outboundOptions(config));
    const { jwks, keyFindings } = issuerKeys({ ...following, outbound, clock, observe, database });
    const writingOn = (on: Database): WriteServices => ({
      database: on,
      clock,
      tagger: sealer,
      events: options.events,
    });
    const writing = writingOn(database);
    const rooms = buildRooms({ config, writing, observe, snapshots, jwks, baseUrl, sealer });
    const portal = { ...writing, installationKey, baseUrl };
    const pageTokens = createSealer(sealer.digest(new Uint8Array(), ['key of page tokens']));
    const { policies, authz, types, definitions, consents, relationships, sharing } = rooms;
    const [{ engine, log }, { ledger }] = [authz, consents];
    const metrics = metricsOf(snapshots, engine);
    attach(metrics);
    return {
      ...{ config, clock, observe, metrics, baseUrl, database, snapshots, portal, keyFindings },
      ...{ policies, authz, types, definitions, consents, relationships, sharing },
      prepareCompiler: () => rooms.compiler.prepare(),
      mint: { database, sealer, clock, baseUrl },
      tenants: tenantsOf(writing, sealer),
      access: {
        ...rooms.access,
        authenticateMember: (token, tenant) => authenticateMember(portal, token, tenant),
        recordSupportUse: (caller, use) => recordSupportUse(writing, caller, use),
        observe,
      },
      authzen: { ...authz, baseUrl, pageTokens },
      issuers: { ...writing, baseUrl, served: rooms.served },
      members: portal,
      invitations: { ...writing, baseUrl },
      keys: { clock, published },
      ledger,
      register: { database, clock, ledger, refusals: consents.refusals },
      sealing: { database, sealer, clock, observe },
      idempotency: { database, sealer, clock, observe },
      erasure: { ...writing, sealer, rooms: erasingRooms(sealer, authz.scheduler) },
      fenced: (fence) => {
        const on = writingOn(database.fenced(fence));
        return fencedServices(on, { compiler: rooms.compiler, engine, observe, baseUrl, sealer });
      },
      async close() {
        outbound.close();
        await keyFindings.close();
        await log.close();
        await ledger.close();
        await rooms.compiler.close();
        await engine.close();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

type Parts = {
  config: Config;
  writing: WriteServices;
  observe: Observe;
  snapshots: Snapshots;
  jwks: JwksCache;
  baseUrl: string;
  sealer: Sealer;
};

function buildRooms({ config, writing, observe, snapshots, jwks, baseUrl, sealer }: Parts) {
  const { database, clock } = writing;
  const compiler = createCompiler({ workers: config.ACCORD_COMPILERS, observe });
  const artifacts = new Artifacts({ database, compiler, observe });
  const scheduler = new FairScheduler(clock);
  const engine = new Engine({
    ...{ clock, observe, scheduler },
    fetch: (tenant, digest) => artifacts.fetch(tenant, digest),
    fetchPacked: (tenant, digest) => artifacts.fetchPacked(tenant, digest),
  });
  const explainer = new Explainer({ artifacts, engine, database });
  const log = new DecisionLog(database, observe, sealer);
  const ledger = new Ledger(database, sealer);
  const tokens = new AccessTokens({ jwks, clock });
  /** A snapshot that may be answered from. @throws Problem stale, tenant_not_found */
  const snapshotOf = (tenant: string): TenantSnapshot => {
    const served = snapshots.served(tenant);
    if (served === undefined) throw tenantProblem('tenant_not_found');
    return served.snapshot;
  };
  const served = async (tenant: string, revision: number): Promise<void> => {
    if ((snapshots.get(tenant)?.revision ?? 0) < revision) await snapshots.refresh(tenant);
  };
  const history = new ConsentHistory(database);
  const graph = new GraphReader(database, scheduler);
  const authz = {
    engine,
    scheduler,
    facts: new FactGatherer({
      records: (question) => graph.read(question),
      consents: (about, now) => readConsentFacts(history, about, now),
      invitation: (...token) => pendingInvitationOf({ database, baseUrl }, ...token),
    }),
    log,
    clock,
    observe,
    database,
    artifacts,
    explainer,
    batches: new Batches(),
  };
  const govern = governedByPolicies(authz);
  return {
    compiler,
    served,
    access: { tenantOf: (tenant: string) => snapshots.served(tenant), tokens },
    policies: { ...writing, artifacts, engine, served },
    authz,
    types: { ...writing, served },
    definitions: { ...writing, served },
    consents: {
      ...{ ...writing, sealer, baseUrl, snapshotOf, ledger, history },
      refusals: new RefusalRecorder({ ledger, clock }),
      batchWriter: new ConsentBatchWriter({ ...writing, snapshotOf }),
    },
    relationships: { ...writing, govern, endInvitations },
    sharing: {
      ...{ ...writing, sealer, baseUrl, govern },
      ask: askingPolicies(authz),
    },
  };
}

/** The rooms with records of people: what makes records erases before what records them. */
function erasingRooms(sealer: Sealer, scheduler: FairScheduler) {
  const makers = [erasingInvitations(sealer), erasingRelationships, erasingConsents, erasingIdempotency(sealer)];
  return [...makers, erasingDecisions(scheduler), erasingLedger, erasingAudit];
}

function metricsOf(snapshots: Snapshots, engine: Engine): Metrics {
  const [tenants, programs] = [() => snapshots.size, () => engine.size];
  return createMetrics({ tenants, programs, fresh: () => snapshots.isFresh() });
}

type Following = Omit<ConstructorParameters<typeof Snapshots>[0], 'keysChanged'>;

function snapshotsOf(following: Following, published: PublishedKeys): Snapshots {
  return new Snapshots({ ...following, keysChanged: (tenant) => published.forget(tenant) });
}
