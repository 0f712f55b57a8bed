/**
 * Measures what emitting its event costs a registration of a consent, on a Postgres that syncs: rounds with and without the event in
 * turns, 64 at once, in this process, which also numbers the events. POST /authz emits nothing but sampled decisions.
 */

import { registerConsents } from '../server/consents/registering.ts';
import * as definitions from '../server/definitions/actions.ts';
import { Unit } from '../server/writes/unit.ts';
import { createInstallation, writer } from './installation.ts';
import { consentsToRegister, type Rate } from './registering.ts';
import { median, noise, table, target } from './report.ts';

const ROUNDS = Number(process.argv[2] ?? 10);
const MS = 1500;

const installation = await createInstallation({ durable: true });
const registering = await consentsToRegister(
  { installation, writer, definitions, registerConsents },
  { behind: () => installation.services.events.mover.move() },
);

const emit = Unit.prototype.emit;
const rounds: { with: Rate[]; without: Rate[] } = { with: [], without: [] };
for (let round = 0; round < ROUNDS + 1; round++) {
  for (const kind of round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
    Unit.prototype.emit = kind === 'with' ? emit : () => {};
    const rate = await registering(MS);
    if (round > 0) rounds[kind].push(rate);
  }
}
const of = (kind: 'with' | 'without', what: keyof Rate) => rounds[kind].map((rate) => rate[what]);
table(
  ['', 'with the event', 'without'],
  [
    [
      'registrations a second',
      ...(['with', 'without'] as const).map((kind) => Math.round(median(of(kind, 'perSecond')))),
    ],
    ['us of CPU each', ...(['with', 'without'] as const).map((kind) => median(of(kind, 'cpuUs')).toFixed(1))],
  ],
);
const ratios = (what: keyof Rate) => of('with', what).map((value, i) => value / (of('without', what)[i] as number));
const slower = median(ratios('perSecond'));
target('registrations a second with the event', '≥ 0.92 of without', slower.toFixed(3), slower >= 0.92);
console.log(`  ${noise(ratios('perSecond'))}`);
console.log(`  CPU: ${median(ratios('cpuUs')).toFixed(3)} times, ${noise(ratios('cpuUs'))}`);
await installation.close();
process.exit();
