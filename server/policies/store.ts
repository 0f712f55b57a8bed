import { type Static, Type } from 'typebox';
import type { DataSubjects } from '../../crds/data-subjects.ts';
import type { Transaction } from '../core/db/database.ts';
import { Count } from '../core/db/rows.ts';
import { none, sql } from '../core/db/sql.ts';
import type { Owner, Writer } from '../core/ownership.ts';
import type { PackedCode } from '../rego/index.ts';
import type { Reads } from '../rego/schema.ts';
import { listNames, onlyIs } from '../room/export-store.ts';
import type { Only } from '../room/exporting.ts';
import type { PolicyGraph } from './graph/index.ts';
import type { PolicyTest } from './rules.ts';
import { type ArtifactAbout, ArtifactRow, EntryRow, PolicyRow, RevisionRow, SourceRow } from './schema.ts';

const columns = sql`name, number, rego, graph, data_subjects, effective_rego, artifact, reads, tests, allow_tested, revision, owner, updated_at, updated_by`;
const json = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value));

export function readPolicy(tx: Transaction, tenant: string, name: string): Promise<PolicyRow | undefined> {
  return tx.maybe(PolicyRow, sql`select ${columns} from accord.policy where tenant = ${tenant} and name = ${name}`);
}

const Named = Type.Object({ name: Type.String() });

/**
 * Names in byte order after `after`. `search` keeps those whose name or source holds it, without regard to case.
 * @param limit undefined: all
 */
export async function listPolicies(
  tx: Transaction,
  tenant: string,
  page: { search?: string; after?: string; limit?: number },
): Promise<string[]> {
  const { search, after, limit } = page;
  const rows = await tx.many(
    Named,
    sql`select name from accord.policy where tenant = ${tenant}
      ${search === undefined ? none : sql`and (strpos(lower(name), lower(${search})) > 0 or strpos(lower(effective_rego), lower(${search})) > 0)`}
      ${after === undefined ? none : sql`and name > ${after}`}
      order by name ${limit === undefined ? none : sql`limit ${limit}`}`,
  );
  return rows.map((row) => row.name);
}

/** Entries for the snapshot: of all tenants, of one, or only those of the names that still exist, also names of documents that they use. */
export function loadPolicies(
  tx: Transaction,
  tenant?: string,
  names?: readonly string[],
): Promise<Static<typeof EntryRow>[]> {
  return tx.many(
    EntryRow,
    sql`select p.tenant, p.name, p.number, p.artifact, p.revision, p.reads, p.data_subjects, d.documents, d.libraries from accord.policy p
      left join (select u.tenant, u.user_name, jsonb_agg(jsonb_build_object('path', u.name, 'number', d.number, 'digest', d.digest)
          order by u.name collate "C") filter (where u.kind = 'data') as documents,
          jsonb_object_agg(u.name, d.number) filter (where u.kind = 'library') as libraries
        from accord.policy_use u join accord.policy_part d on d.tenant = u.tenant and d.kind = u.kind and d.name = u.name
        where u.user_kind = 'policy' ${tenant === undefined ? none : sql`and u.tenant = ${tenant}`}
        group by u.tenant, u.user_name) d on d.tenant = p.tenant and d.user_name = p.name
      ${tenant === undefined ? none : sql`where p.tenant = ${tenant}`}
      ${
        names === undefined
          ? none
          : sql`and (p.name = any(${names}::text[]) or p.name in (select user_name from accord.policy_use
            where tenant = ${tenant as string} and user_kind = 'policy' and kind = 'data' and name = any(${names}::text[])))`
      }`,
  );
}

/** The sources of a tenant's policies, by name in byte order. */
export function loadPolicySources(tx: Transaction, tenant: string, only?: Only): Promise<Static<typeof SourceRow>[]> {
  return tx.many(
    SourceRow,
    sql`select name, rego, graph, data_subjects, tests, owner from accord.policy
      where tenant = ${tenant} ${onlyIs(only, sql`name`)} order by name collate "C"`,
  );
}

export const policyNames = (tx: Transaction, tenant: string) =>
  listNames(tx, sql`select name, owner from accord.policy where tenant = ${tenant}`);

type PolicyWrite = {
  name: string;
  rego: string | undefined;
  graph: PolicyGraph | undefined;
  dataSubjects: DataSubjects | undefined;
  effectiveRego: string;
  artifact: string;
  reads: Reads;
  revision: number;
};

/** A policy's own tests, and whether one of them is answered allow; null where that says nothing. */
export type Tested = { tests: readonly PolicyTest[]; allowTested: boolean | null };

export async function upsertPolicy(
  tx: Transaction,
  tenant: string,
  policy: PolicyWrite & { number: number; tested: Tested | undefined },
  writer: Writer,
): Promise<void> {
  const { tested } = policy;
  await tx.run(sql`
    insert into accord.policy (tenant, name, number, rego, graph, data_subjects, effective_rego, artifact, reads, tests, allow_tested, revision, owner, updated_by)
    values (${tenant}, ${policy.name}, ${policy.number}, ${policy.rego ?? null}, ${json(policy.graph)},
      ${json(policy.dataSubjects)}, ${policy.effectiveRego},
      ${policy.artifact}, ${JSON.stringify(policy.reads)}, ${testsText(tested)}, ${tested?.allowTested ?? null}, ${policy.revision},
      ${JSON.stringify(writer.owner)}, ${writer.actor})
    on conflict (tenant, name) do update set number = excluded.number, rego = excluded.rego, graph = excluded.graph,
      data_subjects = excluded.data_subjects, effective_rego = excluded.effective_rego, artifact = excluded.artifact, reads = excluded.reads,
      ${tested === undefined ? none : sql`tests = excluded.tests, allow_tested = excluded.allow_tested,`}
      revision = excluded.revision, owner = excluded.owner, updated_at = now(), updated_by = excluded.updated_by`);
}

function testsText(tested: Tested | undefined): string | null {
  return tested === undefined || tested.tests.length === 0 ? null : JSON.stringify(tested.tests);
}

/** Gives a policy other tests; it stays the same revision. */
export async function updateTests(
  tx: Transaction,
  tenant: string,
  name: string,
  tested: Tested,
  { actor }: Writer,
): Promise<void> {
  await tx.run(sql`update accord.policy set tests = ${testsText(tested)}, allow_tested = ${tested.allowTested},
      updated_at = now(), updated_by = ${actor}
    where tenant = ${tenant} and name = ${name}`);
}

type Recompiled = {
  name: string;
  number: number;
  revision: number;
  artifact: string;
  reads: Reads;
  allowTested: boolean | null;
};

/** A policy whose library changed: the same source, compiled with the library. Its owner stays. */
export async function updateCompiled(
  tx: Transaction,
  tenant: string,
  { name, number, revision, artifact, reads, allowTested }: Recompiled,
  { actor }: Writer,
  keep: number,
): Promise<void> {
  await Promise.all([
    tx.run(sql`update accord.policy set number = ${number}, artifact = ${artifact}, reads = ${JSON.stringify(reads)},
      allow_tested = ${allowTested}, revision = ${revision}, updated_at = now(), updated_by = ${actor}
      where tenant = ${tenant} and name = ${name}`),
    tx.run(sql`
      insert into accord.policy_revision (tenant, name, number, action, rego, graph, data_subjects, effective_rego, artifact, revision, updated_by)
      select tenant, name, number, 'library', rego, graph, data_subjects, effective_rego, artifact, revision, updated_by
      from accord.policy where tenant = ${tenant} and name = ${name}`),
    tx.run(sql`
      delete from accord.policy_revision where tenant = ${tenant} and name = ${name} and number <= ${number - keep}`),
  ]);
}

/** Whether the tests of a policy are answered allow, where they were run again. */
export async function updateAllowTested(
  tx: Transaction,
  tenant: string,
  name: string,
  allowTested: boolean | null,
  { actor }: Writer,
): Promise<void> {
  await tx.run(sql`update accord.policy set allow_tested = ${allowTested}, updated_at = now(), updated_by = ${actor}
    where tenant = ${tenant} and name = ${name} and allow_tested is distinct from ${allowTested}`);
}

export async function updateOwner(tx: Transaction, tenant: string, name: string, owner: Owner): Promise<void> {
  await tx.run(
    sql`update accord.policy set owner = ${JSON.stringify(owner)} where tenant = ${tenant} and name = ${name}`,
  );
}

export async function removePolicy(tx: Transaction, tenant: string, name: string): Promise<void> {
  await tx.run(sql`delete from accord.policy where tenant = ${tenant} and name = ${name}`);
}

/** How many policies the tenant has. */
export async function countPolicies(tx: Transaction, tenant: string): Promise<number> {
  const row = await tx.one(Count, sql`select count(*)::int as count from accord.policy where tenant = ${tenant}`);
  return row.count;
}

const Numbered = Type.Object({ number: Type.Integer() });

/** The number that the next revision of the name gets. */
export async function nextNumber(tx: Transaction, tenant: string, name: string): Promise<number> {
  const row = await tx.one(
    Numbered,
    sql`select coalesce(max(number), 0) + 1 as number from accord.policy_revision where tenant = ${tenant} and name = ${name}`,
  );
  return row.number;
}

/** Adds to the history of a name, and forgets what is older than the newest `keep`. */
export async function addRevision(
  tx: Transaction,
  tenant: string,
  entry: { name: string; number: number; action: string; revision: number; policy: PolicyWrite | undefined },
  writer: Writer,
  keep: number,
): Promise<void> {
  const policy = entry.policy;
  await Promise.all([
    tx.run(sql`
      insert into accord.policy_revision (tenant, name, number, action, rego, graph, data_subjects, effective_rego, artifact, revision, updated_by)
      values (${tenant}, ${entry.name}, ${entry.number}, ${entry.action}, ${policy?.rego ?? null}, ${json(policy?.graph)},
        ${json(policy?.dataSubjects)}, ${policy?.effectiveRego ?? null}, ${policy?.artifact ?? null}, ${entry.revision}, ${writer.actor})`),
    tx.run(sql`
      delete from accord.policy_revision
      where tenant = ${tenant} and name = ${entry.name} and number <= ${entry.number - keep}`),
  ]);
}

const revisionColumns = sql`number, action, rego, graph, data_subjects, effective_rego, updated_at, updated_by`;

/** The history of a name, newest first, below `before`. */
export function listRevisions(
  tx: Transaction,
  tenant: string,
  name: string,
  page: { before?: number; limit: number },
): Promise<RevisionRow[]> {
  return tx.many(
    RevisionRow,
    sql`select ${revisionColumns} from accord.policy_revision where tenant = ${tenant} and name = ${name}
      ${page.before === undefined ? none : sql`and number < ${page.before}`} order by number desc limit ${page.limit}`,
  );
}

export function readRevision(
  tx: Transaction,
  tenant: string,
  name: string,
  number: number,
): Promise<RevisionRow | undefined> {
  return tx.maybe(
    RevisionRow,
    sql`select ${revisionColumns} from accord.policy_revision
      where tenant = ${tenant} and name = ${name} and number = ${number}`,
  );
}

export function readArtifact(
  tx: Transaction,
  tenant: string,
  digest: string,
): Promise<Static<typeof ArtifactRow> | undefined> {
  return tx.maybe(
    ArtifactRow,
    sql`select wasm, plan, about from accord.policy_artifact where tenant = ${tenant} and digest = ${digest}`,
  );
}

const About = Type.Object({ about: ArtifactRow.properties.about, old: Type.Boolean() });

/** What is known of a compiled policy; `old`: touchArtifact keeps it from the sweep. */
export function readArtifactAbout(
  tx: Transaction,
  tenant: string,
  digest: string,
): Promise<Static<typeof About> | undefined> {
  return tx.maybe(
    About,
    sql`select about, created_at < now() - interval '1 day' as old
      from accord.policy_artifact where tenant = ${tenant} and digest = ${digest}`,
  );
}

/** Makes a compiled policy as young as one that was made now. @returns whether it was still there */
export async function touchArtifact(tx: Transaction, tenant: string, digest: string): Promise<boolean> {
  const touched = await tx.run(
    sql`update accord.policy_artifact set created_at = now() where tenant = ${tenant} and digest = ${digest}`,
  );
  return touched === 1;
}

export async function insertArtifact(
  tx: Transaction,
  tenant: string,
  digest: string,
  artifact: PackedCode & { about: ArtifactAbout },
): Promise<void> {
  await tx.run(sql`
    insert into accord.policy_artifact (tenant, digest, wasm, plan, about)
    values (${tenant}, ${digest}, ${artifact.wasm}, ${artifact.plan}, ${JSON.stringify(artifact.about)}) on conflict do nothing`);
}

/** Deletes compiled policies that no policy uses and that were not compiled for so many days; a system transaction. */
export async function sweepArtifacts(tx: Transaction, keptDays: number): Promise<void> {
  await tx.run(sql`
    delete from accord.policy_artifact a where created_at < now() - make_interval(days => ${keptDays})
      and not exists (select from accord.policy p where p.tenant = a.tenant and p.artifact = a.digest)`);
}
