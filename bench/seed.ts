/**
 * Filling an installation with policies faster than they could be compiled one by one: `distinct` policies are
 * compiled by the real compiler, and their rows (source, artifact) are written under many names and tenants, as the
 * policies room would have written them.
 */
import pg from 'pg';
import { packCode } from '../server/rego/index.ts';
import { type Installation, writer } from './installation.ts';
import { small } from './policies.ts';

/** Policies `seeded:0` … `seeded:{count-1}` for each tenant, which must be there. Servers see them after a restart. */
export async function seedPolicies(
  installation: Installation,
  tenants: readonly string[],
  count: number,
  distinct: number,
): Promise<void> {
  const { artifacts } = installation.services.policies;
  const compiled: {
    source: string;
    digest: string;
    about: string;
    reads: string;
    wasm: Buffer;
    plan: Buffer | null;
  }[] = [];
  for (let i = 0; i < distinct; i++) {
    const source = small(-i - 1);
    const { digest, about, code } = await artifacts.compile(tenants[0] as string, source);
    if (code === undefined) throw new Error('the policy is there already');
    compiled.push({
      source,
      digest,
      about: JSON.stringify(about),
      reads: JSON.stringify(about.reads),
      ...packCode(code),
    });
  }
  const client = new pg.Client({ connectionString: installation.adminUrl });
  await client.connect();
  for (const tenant of tenants) {
    await client.query('begin');
    await client.query(
      `insert into accord.policy_artifact (tenant, digest, wasm, plan, about)
       select $1, digest, wasm, plan, about::jsonb
       from unnest($2::text[], $3::bytea[], $4::bytea[], $5::text[]) as a (digest, wasm, plan, about)`,
      [tenant, ...(['digest', 'wasm', 'plan', 'about'] as const).map((column) => compiled.map((one) => one[column]))],
    );
    const rows = Array.from({ length: count }, (_, i) => ({ name: `seeded:${i}`, ...compiled[i % distinct]! }));
    await client.query(
      `insert into accord.policy (tenant, name, number, rego, effective_rego, artifact, reads, revision, owner, updated_by)
       select $1, name, 1, source, source, digest, reads::jsonb, t.revision + 1, $6::jsonb, 'bench'
       from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as p (name, source, digest, reads), accord.tenant t
       where t.tenant = $1`,
      [
        tenant,
        ...[rows.map((one) => one.name), rows.map((one) => one.source), rows.map((one) => one.digest)],
        ...[rows.map((one) => one.reads), JSON.stringify(writer.owner)],
      ],
    );
    await client.query('update accord.tenant set revision = revision + 1 where tenant = $1', [tenant]);
    await client.query(
      `insert into accord.config_change (tenant, revision, kind, name)
       select tenant, revision, 'policy', unnest($2::text[]) from accord.tenant where tenant = $1`,
      [tenant, rows.map((one) => one.name)],
    );
    await client.query('commit');
  }
  await client.query('analyze');
  await client.end();
}
