/**
 * Measures how fast a change is decided with: PUT of a small policy (it compiles) at five a second with 2,000 policies
 * in the tenant; from its answer, the first decision of the same server and of a second server process on the same
 * Postgres (durable); from the answer to the removal of a member, and to the revocation of a token, to the second server's
 * refusal; and, of `accord start`, from the write of a manifest to the decision.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mintClientToken } from '../server/keys/index.ts';
import { ensureLocalMember, mintPortalToken } from '../server/members/index.ts';
import { createInstallation, startProcess } from './installation.ts';
import { type Connection, openConnections, prepare } from './load.ts';
import { small } from './policies.ts';
import { createDirectory, mintToken, startProgram } from './program.ts';
import { percentile, table, target } from './report.ts';
import { seedPolicies } from './seed.ts';

const CHANGES = Number(process.argv[2] ?? 60);
const EDITS = 10;
const REFUSALS = 20;
const POLICIES = 2000;

async function acrossServers() {
  const installation = await createInstallation({ durable: true });
  const { services } = installation;
  await installation.tenant('bench');
  await seedPolicies(installation, ['bench'], POLICIES, 20);
  const [one, other] = [
    await startProcess('accord', installation.environment),
    await startProcess('accord', installation.environment),
  ];
  const member = await ensureLocalMember(services.members, 'bench', 'config-editor');
  const editor = (await mintPortalToken(services.members, 'bench', member, 'bench')).token;
  const client = { clientId: 'bench', scopes: ['authz:evaluate'] as const };
  const { token } = await mintClientToken(services.keys, 'bench', client);
  const [writing, deciding] = (await openConnections(one.port, 2)) as [Connection, Connection];
  const [elsewhere] = (await openConnections(other.port, 1)) as [Connection];
  await Promise.all([one.rest(), other.rest()]);
  const result = {
    putMs: [] as number[],
    otherMs: [] as number[],
    late: 0,
    memberMs: [] as number[],
    tokenMs: [] as number[],
  };
  const change = async (number: number) => {
    const name = `changing:${number % 10}`;
    const question = prepare('/authz/bench', token, { action: name, subject: { id: 'nobody' } });
    const isNew = (body: string) => body.includes(`version ${number}"`);
    const started = performance.now();
    const put = await writing.ask(prepare(`/tenants/bench/policies/${name}`, editor, { rego: small(number) }, 'PUT'));
    const answered = performance.now();
    if (put.status !== 200) throw new Error(`PUT answered ${put.status}: ${put.body}`);
    const here = deciding.ask(question).then(({ body }) => isNew(body));
    while (!isNew((await elsewhere.ask(question)).body)) await sleep(1);
    return { putMs: answered - started, otherMs: performance.now() - answered, here: await here };
  };
  // The first ones load the compiler and warm it.
  for (let number = -5; number < CHANGES; number++) {
    const next = sleep(200);
    const { putMs, otherMs, here } = await change(number + 1_000_000);
    if (number >= 0) {
      result.putMs.push(putMs);
      result.otherMs.push(otherMs);
      if (!here) result.late++;
    }
    await next;
  }
  const admin = await ensureLocalMember(services.members, 'bench', 'security-admin');
  const asAdmin = (await mintPortalToken(services.members, 'bench', admin, 'bench')).token;
  /** From the answer to a DELETE to the other server's 401 for a token that it ends. */
  const refusedMs = async (token: string, deleted: string) => {
    const asked = prepare('/tenants/bench/policies', token, undefined, 'GET');
    while ((await elsewhere.ask(asked)).status !== 200) await sleep(1);
    const { status, body } = await writing.ask(prepare(`/tenants/bench/${deleted}`, asAdmin, undefined, 'DELETE'));
    if (status >= 300) throw new Error(`DELETE ${deleted} answered ${status}: ${body}`);
    const answered = performance.now();
    while ((await elsewhere.ask(asked)).status !== 401) await sleep(1);
    return performance.now() - answered;
  };
  for (let number = 0; number < REFUSALS; number++) {
    const support = await ensureLocalMember(services.members, 'bench', 'support');
    const [first, second] = [
      await mintPortalToken(services.members, 'bench', support, 'bench'),
      await mintPortalToken(services.members, 'bench', support, 'bench'),
    ];
    result.tokenMs.push(await refusedMs(first.token, `portal-tokens/${first.jti}`));
    result.memberMs.push(await refusedMs(second.token, `members/${support.id}`));
    await sleep(200);
  }
  for (const connection of [writing, deciding, elsewhere]) connection.close();
  await one.stop();
  await other.stop();
  await installation.close();
  return result;
}

async function ofManifests(): Promise<number[]> {
  const directory = await createDirectory();
  const program = await startProgram(directory);
  const token = await mintToken(directory, 'carshare');
  const [connection] = (await openConnections(program.port, 1)) as [Connection];
  const file = join(directory.manifests, 'carshare', 'policies', 'edited.yaml');
  const question = prepare('/authz/carshare', token, { action: 'car:edited', subject: { id: 'nobody' } });
  const ms: number[] = [];
  for (let number = 0; number < EDITS; number++) {
    await writeFile(file, manifest(number));
    const written = performance.now();
    while (!(await connection.ask(question)).body.includes(`version ${number}"`)) {
      if (performance.now() - written > 10_000) throw new Error(`edit ${number} of ${await readFile(file, 'utf8')}`);
      await sleep(2);
    }
    ms.push(performance.now() - written);
    await sleep(300);
  }
  connection.close();
  await program.stop();
  await directory.remove();
  return ms.slice(1); // the first one also makes the policy
}

const manifest = (number: number) => `apiVersion: accord.dev/v1alpha1
kind: Policy
metadata:
  name: edited
spec:
  tenantRef:
    name: carshare
  name: car:edited
  rego: |
${small(number).replace(/^/gm, '    ')}
`;

const { putMs, otherMs, late, tokenMs, memberMs } = await acrossServers();
const editMs = await ofManifests();
const row = (name: string, ms: number[]) => [
  name,
  ...[0.5, 0.99, 1].map((p) => percentile(ms, p).toFixed(1)),
  ms.length,
];
table(
  ['ms', 'p50', 'p99', 'worst', 'of'],
  [
    row('PUT of a small policy', putMs),
    row('from its answer, another server', otherMs),
    row('from its answer, a revoked token is refused by another server', tokenMs),
    row('from its answer, a removed member is refused by another server', memberMs),
    row('manifest written to decision', editMs),
  ],
);
const p50 = (ms: number[]) => percentile(ms, 0.5);
target('PUT of a small policy, p50', '≤ 150 ms', `${p50(putMs).toFixed(0)} ms`, p50(putMs) <= 150);
target('same server decides with it', 'at once, always', `${late} of ${putMs.length} did not`, late === 0);
const p99 = percentile(otherMs, 0.99);
const measured = `p50 ${p50(otherMs).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;
target('another server', 'p50 ≤ 30 ms, p99 ≤ 150 ms', measured, p50(otherMs) <= 30 && p99 <= 150);
target('revoked token, another server, p50', '≤ 30 ms', `${p50(tokenMs).toFixed(1)} ms`, p50(tokenMs) <= 30);
target('removed member, another server, p50', '≤ 30 ms', `${p50(memberMs).toFixed(1)} ms`, p50(memberMs) <= 30);
target('manifest to decision, p50', '≤ 400 ms', `${p50(editMs).toFixed(0)} ms`, p50(editMs) <= 400);
