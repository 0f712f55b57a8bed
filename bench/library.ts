/**
 * Measures one decision in this process by a policy that imports a library which looks a role up in a data document of 1 MiB,
 * against the same rules in one module with a set literal.
 */
import { authorize, type DecisionContext } from '../server/authz/actions.ts';
import type { FactsSource } from '../server/facts/index.ts';
import { putPart, putPolicy } from '../server/policies/index.ts';
import type { TenantSnapshot } from '../server/snapshot/index.ts';
import { createInstallation, pinToCore1, writer } from './installation.ts';
import { median, noise, table, target } from './report.ts';

const ROUNDS = Number(process.argv[2] ?? 120);
const ROUND_MS = 12;
const EDITORS = 20;

pinToCore1();
const installation = await createInstallation({ durable: false });
const { services } = installation;
await installation.tenant('bench');

const id = (i: number) => `user-${String(i).padStart(6, '0')}`;
const ids = Array.from({ length: EDITORS }, (_, i) => id(i));
const roles: Record<string, string> = {};
for (let i = 0, bytes = 2; ; i++) {
  const role = i < EDITORS ? 'editor' : 'reader';
  bytes += JSON.stringify(id(i)).length + JSON.stringify(role).length + 2;
  if (bytes > 1024 * 1024 - 100 || i === 49_000) break;
  roles[id(i)] = role;
}
const value = { roles, padding: '' };
value.padding = '.'.repeat(1024 * 1024 - JSON.stringify(value).length);

const rules = (isEditor: string) => `default outcome := "deny"
outcome := "allow" if {
	input.resource.type == "document"
	${isEditor}
}
obligations contains "log" if input.resource.secret`;
const inOne = `package bench
editors := {${ids.map((one) => JSON.stringify(one)).join(', ')}}
is_editor(subject) if subject.id in editors
${rules('is_editor(input.subject)')}`;
const library = `package company.access
is_editor(subject) if data.company.people.roles[subject.id] == "editor"`;
const withLibrary = `package bench
import data.company.access
${rules('access.is_editor(input.subject)')}`;

const modules = [{ name: 'access', rego: library }];
await putPart(services.policies, writer, 'bench', 'company/people', { kind: 'data', value });
await putPart(services.policies, writer, 'bench', 'company.access', { kind: 'library', modules });
await putPolicy(services.policies, writer, 'bench', 'one', { rego: inOne });
await putPolicy(services.policies, writer, 'bench', 'library', { rego: withLibrary });
await services.snapshots.refresh('bench');

const snapshot = services.snapshots.served('bench')?.snapshot as TenantSnapshot;
const caller = { kind: 'backend', tenant: 'bench', clientId: 'c', scopes: new Set(['authz:evaluate']), issuer: '' };
const asked = { snapshot, caller, requestId: 'r' } as DecisionContext;
const none: FactsSource = { gather: async () => ({ graph: { subject: [], resource: [] }, consents: [] }) };
const authz = { ...services.authz, facts: none };
const questions = (action: string) =>
  Array.from({ length: 40 }, (_, i) => ({
    subject: { type: 'user', id: id(i) },
    ...{ action, resource: { type: 'document', id: `d${i}`, secret: i % 3 === 0 } },
  }));
const ways = { one: questions('one'), library: questions('library') };
type Way = keyof typeof ways;

async function time(way: Way, calls: number): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < calls; i++) {
    const made = authorize(authz, asked, ways[way][i % 40] as (typeof ways.one)[0]);
    if (made instanceof Promise) await made;
  }
  return ((performance.now() - started) * 1000) / calls;
}

for (let i = 0; i < 40; i++) {
  const [one, other] = await Promise.all(
    (['one', 'library'] as const).map((way) => authorize(authz, asked, ways[way][i] as (typeof ways.one)[0])),
  );
  if (JSON.stringify(one?.answer) !== JSON.stringify(other?.answer)) throw new Error(`question ${i}: they disagree`);
}
const us: Record<Way, number[]> = { one: [], library: [] };
for (const way of ['one', 'library'] as const) await time(way, 3000);
const calls = Math.max(50, Math.round((ROUND_MS * 1000) / (await time('one', 3000))));
for (let round = 0; round < ROUNDS; round++)
  for (const way of ['one', 'library'] as const) us[way].push(await time(way, calls));
await installation.close();

const ratios = us.library.map((each, i) => each / (us.one[i] as number));
table(
  ['decision, µs median', 'one module, set literal', 'library and 1 MiB document', 'ratio'],
  [['20 editors', median(us.one).toFixed(2), median(us.library).toFixed(2), median(ratios).toFixed(2)]],
);
target('library and document / one module', '<= 1.3', median(ratios).toFixed(2), median(ratios) <= 1.3);
console.log(noise(ratios));
