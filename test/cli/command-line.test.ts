/** What the command line refuses, with what is wrong, and `accord validate` on folders. */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accord } from '../e2e/accord.ts';
import { accordHere } from './here.ts';

const manifests = 26; // in examples/
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'accord-line-'));
});
afterAll(() => rm(directory, { recursive: true }));

test('a process of its own ends with 2, and says what is wrong on its other output', async () => {
  const refused = await accord(['strat']).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^accord: unknown command strat/),
  });
});

describe('the command line', () => {
  test.each([
    [['start', '--dta', 'x'], /Unknown option '--dta'/],
    [['start', '--listen', 'x'], /--listen takes HOST:PORT/],
    [['start', '--manifests', '/nonexistent/x'], /--manifests \/nonexistent\/x: there is no such directory\nusage: /],
    [['start', '--manifests', 'package.json'], /--manifests \/.*package\.json: it is a file/],
    [['token', '--tenant', 'a'], /give one of --role, --client and --user/],
    [['token', '--tenant', 'a', '--client', 'b', '--scope', 'everything'], /--scope takes pg:tenant:admin/],
    [['token', '--tenant', 'a', '--role', 'king'], /--role is one of security-admin/],
    [['token', '--tenant', 'a', '--user', 'b', '--data', '/nonexistent'], /no accord start uses \/nonexistent/],
    [['log-in', '--data', '/nonexistent'], /no accord start uses \/nonexistent/],
    [['serve'], /ACCORD_DATABASE_URL: required by accord serve/],
  ])('%j is refused with what is wrong', async (args, message) => {
    await expect(accordHere(args)).rejects.toThrow(message);
  });

  test('a directory of manifests that is not there is a wrong command line, and no data directory is made', async () => {
    const data = join(directory, 'unmade');
    const started = accordHere(['start', '--manifests', join(directory, 'gone'), '--data', data]);
    await expect(started).rejects.toMatchObject({ code: 2 });
    await expect(stat(data)).rejects.toThrow(/ENOENT/);
  });

  test('an unknown variable stops it', async () => {
    await expect(accordHere(['serve'], { ACCORD_LISTN: 'x' })).rejects.toThrow(/ACCORD_LISTN: unknown variable/);
  });

  test('validate finds what the operator would refuse, with its place', async () => {
    const rego = 'package a\n\noutcome := http.send({"url": "http://x"})';
    const policy = {
      apiVersion: 'accord.dev/v1alpha1',
      kind: 'Policy',
      metadata: { name: 'bad', namespace: 'x' },
      spec: { tenantRef: { name: 'carshare' }, name: 'a:b', rego },
    };
    await writeFile(join(directory, 'bad.json'), JSON.stringify(policy));
    await writeFile(
      join(directory, 'typo.yaml'),
      'apiVersion: accord.dev/v1alpha1\nkind: Tenant\nmetadata: {name: xx}\nspec: {displayNam: X}\n',
    );
    const failure = await accordHere(['validate', directory]).catch((error: { stdout: string; code: number }) => error);
    expect(failure).toMatchObject({ code: 1 });
    const { stdout } = failure as { stdout: string };
    expect(stdout).toMatch(/bad\.json:\d+.*http\.send/);
    expect(stdout).toMatch(/typo\.yaml:\d+.*displayNam/s);
    expect((await accordHere(['validate', 'examples'])).stdout).toContain(`${manifests} manifests are good`);
  });
});
