/**
 * Measures writes on a Postgres that syncs: registering consents (64 at once), PUT of a policy that was compiled before (one
 * after the other), and importing relationships. With `--other DIRECTORY`, another checkout is measured in turns with this
 * one, each round by a process and on a Postgres of its own.
 */
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { consentsToRegister } from './registering.ts';
import { median, noise, table } from './report.ts';

const { values } = parseArgs({
  options: { other: { type: 'string' }, rounds: { type: 'string', default: '5' }, measure: { type: 'string' } },
});
const MS = 4000;
const PUTS = 400;
const LINES = 100_000;
const kinds = [
  'registrations a second',
  'us of CPU a registration',
  'ms for a PUT',
  'lines imported a second',
] as const;
type Measured = Record<(typeof kinds)[number], number>;

/** @param root of a checkout, whose modules are measured */
async function measure(root: string): Promise<Measured> {
  const load = (path: string) => import(join(root, path));
  const { createInstallation, pinToCore1, writer } = await load('bench/installation.ts');
  const definitions = await load('server/definitions/actions.ts');
  const { registerConsents } = await load('server/consents/registering.ts');
  const { putPolicy } = await load('server/policies/index.ts');
  const { importRelationships } = await load('server/relationships/index.ts');
  // A checkout from before entities had that name has putThingType.
  const { putRelationshipType, putThingType, putEntityType = putThingType } = await load('server/types/index.ts');
  pinToCore1();
  const tenant = 'bench';
  const installation = await createInstallation({ durable: true, first: true });
  const { services } = installation;
  const types = async () => {
    await putEntityType(services.types, writer, tenant, { kind: 'actor', name: 'user', spec: {} });
    await putEntityType(services.types, writer, tenant, { kind: 'resource', name: 'car', spec: {} });
    await putRelationshipType(services.types, writer, tenant, { from: 'user', name: 'drives', to: 'car' }, {});
  };
  const measured = { installation, writer, definitions, registerConsents };
  const registering = await consentsToRegister(measured, { more: types });
  await registering(1500);
  const registered = await registering(MS);

  const sources = ['a', 'b'].map((text) => `package p\n# ${text}\ndefault outcome := "deny"`);
  const put = (n: number) => putPolicy(services.policies, writer, tenant, 'car:read', { rego: sources[n % 2] });
  for (let n = 0; n < 50; n++) await put(n);
  const puts: number[] = [];
  for (let n = 0; n < PUTS; n++) {
    const started = performance.now();
    await put(n);
    puts.push(performance.now() - started);
  }

  const lines = async function* () {
    for (let at = 0; at < LINES; at += 1000) {
      const some = Array.from({ length: 1000 }, (_, i) => {
        const [from, to] = [`user-${at + i}`, `car-${((at + i) * 7919) % LINES}`];
        return `{"from":{"type":"user","id":"${from}"},"relationshipType":"drives","to":{"type":"car","id":"${to}"}}\n`;
      });
      yield Buffer.from(some.join(''));
    }
  };
  // The members beside `by` are those of checkouts before server/writes.
  const author = { tenant, by: { actor: 'bench' }, actor: 'bench', requestId: 'r' };
  const started = performance.now();
  await importRelationships(services.relationships, author, { id: 'one', firstLine: 1 }, Readable.from(lines()));
  const imported = (LINES / (performance.now() - started)) * 1000;
  await installation.close();
  return {
    'registrations a second': registered.perSecond,
    'us of CPU a registration': registered.cpuUs,
    'ms for a PUT': median(puts),
    'lines imported a second': imported,
  };
}

function measureApart(root: string): Measured {
  const args = [...process.execArgv, import.meta.filename, '--measure', root];
  const lines = execFileSync(process.execPath, args, { encoding: 'utf8' }).trim().split('\n');
  return JSON.parse(lines.at(-1) as string) as Measured;
}

if (values.measure !== undefined) {
  console.log(JSON.stringify(await measure(values.measure)));
} else {
  const roots = [join(import.meta.dirname, '..'), ...(values.other === undefined ? [] : [resolve(values.other)])];
  const rounds: Measured[][] = roots.map(() => []);
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [i, root] of roots.entries()) rounds[i]?.push(measureApart(root));
  }
  const of = (i: number, kind: (typeof kinds)[number]) => (rounds[i] ?? []).map((measured) => measured[kind]);
  const digits = (value: number) => (value < 100 ? value.toFixed(2) : Math.round(value).toString());
  table(
    ['median of rounds', 'this', ...(roots.length > 1 ? ['other', 'this / other'] : []), 'noise'],
    kinds.map((kind) => {
      const [ours, others] = [median(of(0, kind)), median(of(1, kind))];
      const compared = roots.length > 1 ? [digits(others), (ours / others).toFixed(3)] : [];
      return [kind, digits(ours), ...compared, noise(of(0, kind))];
    }),
  );
}
