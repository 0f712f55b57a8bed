/**
 * Holds what the design asks of the code's shape: who may import whom, how long a file is, and where the clock, SQL and
 * the environment are at home. (Function length, console and process.env are the linter's: biome.json.)
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rooms } from '../server/rooms.ts';

const root = join(import.meta.dirname, '..');
const sources = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((file) => !file.startsWith('node_modules/'));
const product = sources.filter((file) => /^(crds|operator|server|cli)\//.test(file));
const text = (file: string) => readFileSync(join(root, file), 'utf8');

/** Left may be imported by right. Rooms stand in the order of server/rooms.ts. */
const order = [
  ['crds'],
  ['server/core'],
  ['server/http'],
  ['server/room'],
  ['server/embedded'],
  ...rooms.map(({ name }) => [`server/${name}`]),
  ['server'], // app, services, main, access: the files directly in server/
  ['operator'],
  ['cli'],
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
      expect(rankOf(to), `${file} imports ${imported}`).toBeLessThan(rankOf(from));
      if (rooms.some(({ name }) => to === `server/${name}`)) {
        expect(imported, `${file} enters ${to} by another way than its door`).toMatch(/\/(index|schema)\.ts$/);
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
  const outside = (pattern: RegExp, homes: RegExp) =>
    product.filter((file) => !homes.test(file) && pattern.test(text(file).replace(/^\s*(\/\/|\*|\/\*).*$/gm, '')));

  test('the clock is read in core/clock.ts', () => {
    expect(outside(/Date\.now\(\)|new Date\(\)/, /^(server\/core\/clock\.ts|cli\/)/)).toEqual([]);
  });
  test('SQL stands in store.ts and in core/db, and only they and the embedded Postgres open connections', () => {
    const sql = /core\/db\/sql\.ts'|^import (?!type)[^\n]*from 'pg'/m;
    expect(
      outside(sql, /^server\/(core\/db\/|embedded\/|room\/scan\.ts|\w+\/(\w+-)?store\.ts)|^operator\/.*store\.ts$/),
    ).toEqual([]);
  });
  test('what is written for a tenant is written by server/writes', () => {
    const tenant = /atabase\.tenant\(|\bon\.tenant\(/;
    const beside = [
      'writes/write', // the one way
      'tenants/actions', // erasing a tenant's rows, which leaves nothing that could be locked or audited
      'idempotency/actions', // the answer, when the action is committed
      'policies/artifacts', // a cache: marks what is used
      'consents/receipts', // reads; makes the tenant's key at the first receipt
      'ledger/verify', // reads for long, which one snapshot would hold up the vacuum for
    ];
    const homes = new RegExp(`^server/(core/db/|(${beside.join('|')})\\.ts$)`);
    expect(outside(tenant, homes), 'use write() of server/writes, or database.tenantSnapshot() to read').toEqual([]);
  });
  test('transactions across tenants are few, and none is an action of a caller', () => {
    const homes =
      /^server\/(core\/db\/|main|snapshot\/snapshots|authz\/log|ledger\/(append|seal)|idempotency\/actions|keys\/actions|policies\/room|issuers\/key-findings|tenants\/actions)|^operator\/|^cli\/operation\.ts/;
    expect(outside(/\.(system|systemAtOnce)\(|^\s*\.system\(/m, homes)).toEqual([]);
  });
  test.each([
    ['recordAudit', 'audit'],
    ['advanceRevision', 'tenants'],
    ['lockForUpdate', 'tenants'],
    ['appendEntries', 'ledger'],
    ['holdWrites', 'pseudonyms'],
    ['holdErasing', 'pseudonyms'],
  ])('%s is called by server/writes only', (name, room) => {
    const homes = new RegExp(`^server/(writes/|${room}/(store|index|append)\\.ts)`);
    expect(outside(new RegExp(`\\b${name}\\(`), homes)).toEqual([]);
  });
  test('Idempotency-Keys are claimed by server/writes only', () => {
    expect(outside(/\bonce\??\.claim\(|\bclaimAll\(/, /^server\/(writes\/|core\/once\.ts)/)).toEqual([]);
  });
  test('schemas of rows are constants, because each new one is compiled', () => {
    expect(outside(/\b(one|many|maybe|checkRows)\(\s*(Type\.|Nullable\()/, /^$/)).toEqual([]);
  });
  test('every file says what it owns', () => {
    const silent = product.filter(
      (file) => !/^(#!.*\n)?\s*(\/\*\*|\/\/)/.test(text(file)) && !/problems\.ts$/.test(file),
    );
    expect(silent).toEqual([]);
  });
});
