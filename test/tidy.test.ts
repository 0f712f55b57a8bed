/**
 * Holds what the design asks of the code's shape: who may import whom, how long a file is, and where the clock, SQL and
 * the environment are at home. (Function length, console and process.env are the linter's: biome.json.)
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Database } from '../server/core/db/database.ts';
import { rooms } from '../server/rooms.ts';

const root = join(import.meta.dirname, '..');
const sources = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((file) => !file.startsWith('node_modules/'));
const product = sources.filter(
  (file) => /^(crds|operator|server|cli|packages)\//.test(file) && !file.startsWith('packages/client/src/generated/'),
);
const text = (file: string) => readFileSync(join(root, file), 'utf8');

/** Left may be imported by right. Rooms stand in the order of server/rooms.ts. */
const order = [
  ['crds'],
  ['server/core'],
  ['server/http'],
  ['server/pages'],
  ['server/room'],
  ['server/embedded'],
  ...rooms.map(({ name }) => [`server/${name}`]),
  ['server'], // app, services, main, access: the files directly in server/
  ['operator'],
  ['cli'],
  ['packages'], // published by themselves: they import nothing of the server
];

function roomOf(file: string): string {
  const [top = '', second = ''] = file.split('/');
  return top === 'server' && !second.endsWith('.ts') ? `server/${second}` : top;
}

function rankOf(room: string): number {
  const rank = order.findIndex((rooms) => rooms.includes(room));
  if (rank < 0) throw new Error(`the import law does not know ${room}: add it to test/tidy.test.ts`);
  return rank;
}

function importsOf(file: string): string[] {
  const specifiers = [...text(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(
    (match) => match[1] as string,
  );
  return specifiers.map((specifier) => relative(root, join(root, dirname(file), specifier)));
}

describe('import law', () => {
  test.each(product)('%s', (file) => {
    for (const imported of importsOf(file)) {
      const [from, to] = [roomOf(file), roomOf(imported)];
      if (from === to) continue;
      expect(from, `${file} imports ${imported}`).not.toBe('packages');
      expect(rankOf(to), `${file} imports ${imported}`).toBeLessThan(rankOf(from));
      if (rooms.some(({ name }) => to === `server/${name}`)) {
        expect(imported, `${file} enters ${to} other than through its index.ts`).toMatch(/\/(index|schema)\.ts$/);
      }
    }
  });

  test('the server does not know Kubernetes or the operator', () => {
    for (const file of product.filter((one) => one.startsWith('server/'))) {
      expect(text(file), file).not.toMatch(/@kubernetes\/client-node|from '(\.\.\/)+operator\//);
    }
  });
});

describe('size', () => {
  test('no file of the product is longer than 300 lines', () => {
    const long = product.filter((file) => text(file).split('\n').length > 301);
    expect(long).toEqual([]);
  });
});

describe('homes', () => {
  /**
   * What the pattern finds is in these files only: beginnings of paths, or patterns. One in which there is nothing to find is an
   * exception that is no longer needed, or a pattern that cannot fail.
   */
  function expectOnlyIn(homes: readonly (string | RegExp)[], pattern: RegExp, instead?: string) {
    const found = product.filter((file) => pattern.test(text(file).replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')));
    const isIn = (home: string | RegExp, file: string) =>
      typeof home === 'string' ? file.startsWith(home) : home.test(file);
    const outside = found.filter((file) => !homes.some((home) => isIn(home, file)));
    expect(outside, instead).toEqual([]);
    const unused = homes.filter((home) => !found.some((file) => isIn(home, file)));
    expect(unused, 'remove these from the list').toEqual([]);
  }

  test('the clock is read in core/clock.ts', () => {
    expectOnlyIn(['server/core/clock.ts', 'cli/', 'packages/client/src/webhook.ts'], /Date\.now\(\)|new Date\(\)/);
  });
  test('SQL stands in store.ts and in core/db, and only they and the embedded Postgres open connections', () => {
    const stores = /^server\/\w+\/(\w+-)*store\.ts$/;
    expectOnlyIn(
      ['server/core/db/', 'server/embedded/', 'server/room/scan.ts', stores, /^operator\/.*store\.ts$/],
      /core\/db\/sql\.ts'|^import (?!type)[^\n]*from 'pg'/m,
    );
  });
  test('what is written for a tenant is written by server/writes', () => {
    const homes = [
      'server/writes/write.ts', // the one way
      'server/tenants/actions.ts', // erasing a tenant's rows, which leaves nothing that could be locked or audited
      'server/idempotency/actions.ts', // the answer, when the action is committed
      'server/policies/artifacts.ts', // a cache: marks what is used
      'server/consents/receipts.ts', // reads; makes the tenant's key at the first receipt
      'server/oidc/records.ts', // records that the library keeps, of a request each
      'server/oidc/proofs.ts', // what was used already
      'server/subscriptions/lanes/lane.ts', // attempts and the cursor, fenced by the owner of the lane
      'server/subscriptions/lanes/replay.ts', // the same of a replay
      'server/ledger/verify.ts', // reads for long, which one snapshot would hold up the vacuum for
    ];
    const tenant = /atabase\.(tenant|write)\(|\bon\.tenant\(/;
    expectOnlyIn(homes, tenant, 'use write() of server/writes, or database.tenantSnapshot() to read');
  });
  test('transactions across tenants are few, and none is an action of a caller', () => {
    const methods = Object.getOwnPropertyNames(Database.prototype).filter((name) => name.startsWith('system'));
    expect(methods).not.toEqual([]);
    expectOnlyIn(
      [
        'server/core/db/database.ts',
        'server/core/db/partitions.ts',
        'server/main.ts',
        'server/snapshot/load.ts',
        'server/snapshot/snapshots.ts',
        'server/snapshot/room.ts', // which servers live is no tenant's
        'server/authz/log.ts',
        'server/ledger/append.ts',
        'server/ledger/seal.ts',
        'server/events/mover.ts',
        'server/events/retention.ts',
        'server/core/lanes/lanes.ts', // who owns which lane
        'server/subscriptions/lanes/index.ts',
        'server/idempotency/actions.ts',
        'server/keys/actions.ts',
        'server/room/timed.ts',
        /^server\/\w+\/doctor\.ts$/,
        'server/oidc/sweeping.ts',
        'server/policies/resource-kind.ts', // for the operator: whose conditions others changed
        'server/policies/room.ts',
        'server/subscriptions/resource-kind.ts', // for the operator
        'server/issuers/key-findings.ts',
        'server/issuers/key-condition.ts',
        'server/tenants/actions.ts',
        'server/mail/outbox.ts',
        'server/mail/sender.ts',
        'server/accounts/sweep.ts',
        'server/portal/log-in-links.ts', // of an accord start, for who holds its data: which tenants there are
        'operator/',
        'cli/operation.ts',
      ],
      new RegExp(`\\.(${methods.join('|')})\\(`),
    );
  });
  test.each([
    ['recordAudit', 'audit'],
    ['advanceRevision', 'tenants'],
    ['lockForUpdate', 'tenants'],
    ['appendEntries', 'ledger'],
    ['lockErasingShared', 'pseudonyms'],
    ['lockErasingExclusive', 'pseudonyms'],
  ])('%s is called by server/writes only', (name, room) => {
    const itself = new RegExp(`^server/${room}/(store|append|actions)\\.ts$`);
    expectOnlyIn(['server/writes/', itself], new RegExp(`\\b${name}\\(`));
  });
  test('Idempotency-Keys are reserved by server/writes only', () => {
    expectOnlyIn(['server/writes/', 'server/core/idempotency-key.ts'], /\.reserve\(tx\b|\breserveAll\(/);
  });
  test('schemas of rows are constants, because each new one is compiled', () => {
    expectOnlyIn([], /\b(one|many|maybe|checkRows)\(\s*(Type\.|Nullable\()/);
  });
});

/** What only waits for time says why (test/helpers/wait.ts has what waits for something). */
test('a test that sleeps says why, in a comment at the line or over it', () => {
  const silent = sources
    .filter((file) => file.startsWith('test/') && file !== 'test/helpers/wait.ts')
    .flatMap((file) => {
      const lines = text(file).split('\n');
      const isSaid = (at: number) => / \/\/ /.test(lines[at] ?? '') || /^ *\/\/ /.test(lines[at - 1] ?? '');
      return lines.flatMap((line, at) =>
        /\bsleep\(|\bsetTimeout\((?!\w+, ms)|vi\.waitFor|Math\.random\(/.test(line) && !isSaid(at)
          ? [`${file}:${at + 1}`]
          : [],
      );
    });
  expect(silent).toEqual([]);
});
