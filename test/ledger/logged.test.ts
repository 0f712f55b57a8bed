/** A seal is logged at the level info, with its checkpoint: that is the copy out of the database's reach. */
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createLogger, logObservation } from '../../server/core/log.ts';

test.each([
  ['info', 1],
  ['warn', 0],
] as const)('with ACCORD_LOG_LEVEL %s a seal is %i lines', (level, lines) => {
  const written = new PassThrough({ encoding: 'utf8' });
  const seal = { kind: 'ledger_sealed', tenant: 't', entries: 3, checkpoint: 'a.b.c' } as const;
  logObservation(createLogger(level, written), seal);
  const found = String(written.read() ?? '')
    .split('\n')
    .filter((line) => line !== '');
  expect(found).toHaveLength(lines);
  for (const line of found)
    expect(JSON.parse(line)).toMatchObject({ level: 30, msg: 'ledger_sealed', tenant: 't', checkpoint: 'a.b.c' });
});
