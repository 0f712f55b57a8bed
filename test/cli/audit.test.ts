/** `accord audit verify`: what it prints, with which exit code, and what it takes for a checkpoint. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { accord } from '../e2e/accord.ts';
import { asAdmin } from '../helpers/admin.ts';
import { createTestServer } from '../helpers/server.ts';
import { entriesOf, sealed } from '../ledger/chain.ts';
import { accordHere } from './here.ts';

const server = await createTestServer();
const folder = await mkdtemp(join(tmpdir(), 'accord-audit-'));
afterAll(() => rm(folder, { recursive: true }));

/** What an auditor has: the database, and no master key. */
const variables = { ACCORD_DATABASE_URL: server.db.url };
const audit = async (...args: string[]) => {
  try {
    return { code: 0, ...(await accordHere(['audit', ...args], variables)) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
};

test('prints the verification as JSON and is otherwise silent in a pipe', async () => {
  const tenant = await server.tenant();
  await sealed(server, tenant, [3]);
  const first = await accord(['audit', 'verify', '--tenant', tenant], variables);
  expect(first.stderr).toBe('');
  const { checkpoint, ...rest } = JSON.parse(first.stdout);
  expect(rest).toEqual({ valid: true, entries: 3 });

  // What it printed is the next run's checkpoint, and so is the checkpoint alone.
  await writeFile(join(folder, 'printed'), first.stdout);
  await writeFile(join(folder, 'alone'), `${checkpoint}\n`);
  await sealed(server, tenant, [2]);
  for (const file of ['printed', 'alone']) {
    const again = await audit('verify', '--tenant', tenant, '--checkpoint', join(folder, file));
    expect(again.code, again.stderr).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ valid: true, entries: 5 });
  }
});

test('ends with 1 and names the entry when the ledger is not as it was sealed', async () => {
  const tenant = await server.tenant();
  await sealed(server, tenant, [3]);
  const [, row] = await entriesOf(server, tenant);
  await asAdmin(server.db.adminUrl, "update accord.ledger_entry set outcome = 'x' where id = $1", [row?.id]);
  const bad = await audit('verify', '--tenant', tenant);
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.stdout)).toMatchObject({
    valid: false,
    entries: 1,
    firstBad: { sequence: 2, id: row?.id, problem: 'changed' },
  });
  expect(bad.stderr).toBe(`accord: the ledger was changed after it was sealed: changed at entry 2 (${row?.id})\n`);
});

test.each([
  [['verify'], 2, /--tenant is missing\nusage: accord audit verify/],
  [['check', '--tenant', 'x'], 2, /say accord audit verify/],
  [['--tenant', 'x'], 2, /say accord audit verify/],
  [['verify', '--tenant', 'nobody'], 1, /^accord: .*tenant/i],
  [['verify', '--tenant', 'nobody', '--checkpoint', join(folder, 'missing')], 1, /^accord: ENOENT.*missing/],
])('accord audit %j is refused', async (args, code, why) => {
  const refused = await audit(...args);
  expect(refused).toMatchObject({ code, stdout: '' });
  expect(refused.stderr).toMatch(why);
});

test('a file without a checkpoint, and one of another tenant, are refused', async () => {
  const [tenant, other] = [await server.tenant(), await server.tenant()];
  await sealed(server, other, [1]);
  const files = {
    json: '{"valid":true,"entries":0}',
    broken: '{',
    text: 'nothing of the kind',
    other: (await audit('verify', '--tenant', other)).stdout,
  };
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    await writeFile(file, text);
    const refused = await audit('verify', '--tenant', tenant, '--checkpoint', file);
    const known = name === 'text' || name === 'other';
    expect(refused, name).toMatchObject({ code: known ? 1 : 2, stdout: '' });
    expect(refused.stderr).toMatch(known ? /not signed with a key of this tenant/ : /holds no checkpoint/);
  }
});
