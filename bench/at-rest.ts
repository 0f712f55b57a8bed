/**
 * Measures what Postgres does for a server that nobody asks: its CPU, of the postmaster and all its children, beside one with 40
 * tenants and nothing else, and beside one with a million relationships of one tenant, half of which expire. Both run at once, and
 * CPU is each one's own, so what else the machine does matters little. Arguments: relationships, seconds.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createInstallation, fillRelationships, type Installation, startProcess } from './installation.ts';
import { median, noise, table, target } from './report.ts';

const [rows = 1_000_000, seconds = 30] = process.argv.slice(2).map(Number);
const TENANTS = 40;
const ROUND_S = 5;
const TICKS = 100; // a second, of /proc
/** Until a connection has its plan for all values, which it makes after five times. */
const SETTLED_MS = 15_000;

/** Of /proc/PID/stat: behind the name, which may hold spaces. */
function statOf(pid: string) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const [parent, own, ofEnded] = [fields[1], fields.slice(11, 13), fields.slice(13, 15)];
  const sum = (ticks: string[]) => ticks.reduce((all, one) => all + Number(one), 0);
  return { parent, own: sum(own), ofEnded: sum(ofEnded) };
}

/** Seconds of CPU that a Postgres has taken, with what has ended of it. */
function cpuSeconds(postmaster: string): number {
  const { own, ofEnded } = statOf(postmaster);
  let ticks = own + ofEnded;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = statOf(pid);
      if (stat.parent === postmaster) ticks += stat.own;
    } catch {
      // It has ended.
    }
  }
  return ticks / TICKS;
}

async function atRest(relationships: number) {
  const installation = await createInstallation({ durable: true });
  for (let n = 0; n < TENANTS; n++) await installation.tenant(`tenant-${n}`);
  if (relationships > 0) await fill(installation, relationships);
  const server = await startProcess('accord', installation.environment);
  const { admin } = await fillRelationships(installation, 'tenant-0');
  const { rows: found } = await admin.query(
    `select setting || '/postmaster.pid' as file from pg_settings where name = 'data_directory'`,
  );
  const [postmaster] = readFileSync(found[0].file, 'utf8').split('\n') as [string];
  // What sets up asks too, and is not what is measured.
  await installation.services.snapshots.close();
  return {
    cpu: () => cpuSeconds(postmaster),
    async close() {
      await admin.end();
      await server.stop();
      await installation.close();
    },
  };
}

async function fill(installation: Installation, relationships: number): Promise<void> {
  const { admin, insert, analyze } = await fillRelationships(installation, 'tenant-0');
  await insert(`'user', 'u' || n % 100000, 'owns', 'doc', 'd' || n from generate_series(1, ${relationships}) n`);
  await admin.query(
    `update accord.relationship set expires_at = now() + interval '30 days' + make_interval(secs => hashtext(to_id) % 100000)
      where hashtext(to_id) % 2 = 0`,
  );
  await analyze();
  await admin.query('checkpoint');
  await admin.end();
}

const empty = await atRest(0);
const full = await atRest(rows);
await sleep(SETTLED_MS);
const shares: { empty: number; full: number }[] = [];
for (let round = 0; round < seconds / ROUND_S; round++) {
  const [began, before] = [performance.now(), [empty.cpu(), full.cpu()] as const];
  await sleep(ROUND_S * 1000);
  const passed = (performance.now() - began) / 1000;
  shares.push({ empty: (empty.cpu() - before[0]) / passed, full: (full.cpu() - before[1]) / passed });
}
await full.close();
await empty.close();

const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
const of = (which: 'empty' | 'full') => shares.map((one) => one[which]);
table(
  [`Postgres beside a server at rest with ${TENANTS} tenants`, 'of a core (median)', 'rounds'],
  [
    ['no relationships', percent(median(of('empty'))), of('empty').map(percent).join(' ')],
    [`${rows} relationships`, percent(median(of('full'))), of('full').map(percent).join(' ')],
  ],
);
const ratio = of('full').reduce((a, b) => a + b, 0) / of('empty').reduce((a, b) => a + b, 0);
target('Postgres at rest, with relationships against without', '≤ 1.5 times', ratio.toFixed(2), ratio <= 1.5);
console.log(noise(shares.map((one) => one.full / one.empty)));
