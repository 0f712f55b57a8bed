/**
 * Measures `accord start` with examples/: from nothing (initdb, migrations, compiling the policies) and on the same
 * data again, until everything is printed as reconciled and the first decision is answered. The token is minted between
 * the two by `accord token`; that time is not counted.
 */
import { askDecision, createDirectory, startProgram } from './program.ts';
import { median, table, target } from './report.ts';

const WARM_ROUNDS = Number(process.argv[2] ?? 3);

const directory = await createDirectory();

/** Seconds until the first decision. */
async function firstDecision(): Promise<number> {
  const program = await startProgram(directory);
  const decisionMs = await askDecision(program, directory);
  await program.stop();
  return (program.startedMs + decisionMs) / 1000;
}

const cold = await firstDecision();
const warm: number[] = [];
for (let round = 0; round < WARM_ROUNDS; round++) warm.push(await firstDecision());
await directory.remove();

table(
  ['accord start, examples/', 'seconds to the first decision'],
  [
    ['cold', cold.toFixed(2)],
    [`warm (${WARM_ROUNDS} rounds)`, warm.map((one) => one.toFixed(2)).join(' ')],
  ],
);
target('cold start to first decision', '≤ 10 s', `${cold.toFixed(2)} s`, cold <= 10);
target('warm start to first decision', '≤ 2.5 s', `median ${median(warm).toFixed(2)} s`, median(warm) <= 2.5);
