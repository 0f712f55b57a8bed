/** Manifests of consent definitions: served, refused by time, and archived when they go. */
import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { conditionOf } from '../../operator/conditions.ts';
import { WallClock } from '../invitations/inviting.ts';
import { createWorld, save, until } from './harness.ts';
import { tenantYaml } from './manifests.ts';

const dates = new WallClock();
const world = await createWorld(dates);
const { rooms } = world;
const at = (ms: number) => new Date(dates.now() + ms).toISOString();

const yaml = (tenant: string, versions: string) => `apiVersion: accord.dev/v1alpha1
kind: ConsentDefinition
metadata: {name: ${tenant}-news}
spec:
  tenantRef: {name: ${tenant}}
  name: news
  versions:
${versions}
`;
const version = (name: string, date: string, more = '') =>
  `    - {version: "${name}", optInConfig: {type: direct}${more}, documents: [{version: a, language: en, effectiveDate: "${date}"}]}`;

async function defined(tenant: string, versions: string, more = 'deletionPolicy: Delete') {
  const directory = await world.directory();
  const file = join(directory, 'news.yaml');
  await save(file, yaml(tenant, versions));
  await save(join(directory, 'z-tenant.yaml'), tenantYaml(tenant, more));
  const snapshots = await world.serve();
  const run = world.operate(directory);
  const statusOf = async () => {
    const { resources } = await run.operator.settled();
    return resources.find(({ target }) => target.kind === 'ConsentDefinition')?.status ?? {};
  };
  /** The Accepted condition once it has this reason. */
  const reason = (wanted: string) =>
    until(async () => {
      const status = await statusOf();
      const accepted = conditionOf(status, 'Accepted');
      return accepted?.reason === wanted ? { ...accepted, details: status } : undefined;
    });
  return { directory, file, run, snapshots, reason };
}

describe('manifests of consent definitions', () => {
  test('are served, and say what is active and locked', async () => {
    const first = at(0);
    const { snapshots, reason } = await defined('serving', [version('1', first), version('2', at(60_000))].join('\n'));
    const { details } = await reason('Valid');
    expect(details).toMatchObject({
      active: [{ language: 'en', version: '1', document: 'a' }],
      locked: [{ version: '1', endOfLife: false, documents: 1 }],
    });
    const served = await until(() => snapshots.get('serving')?.definitions.get('news'));
    expect(served.versions.map((one) => one.version)).toEqual(['1', '2']);
  });

  test('of the past are refused, and accepted when the tenant allows restoring', async () => {
    const past = version('1', at(-60_000));
    const { directory, reason } = await defined('past', past);
    const refused = await reason('EffectiveDateInPast');
    expect(refused.message).toContain('/spec/versions/0/documents/0/effectiveDate');
    expect(refused.message).toMatch(/news\.yaml:\d+/);
    await save(join(directory, 'z-tenant.yaml'), tenantYaml('past', 'restore: {allowPastDates: true}'));
    await reason('Valid');
    // The tenant closes the door again: what came in stays without complaint.
    await save(join(directory, 'z-tenant.yaml'), tenantYaml('past', 'deletionPolicy: Delete'));
    await save(join(directory, 'news.yaml'), yaml('past', [past, version('2', at(60_000))].join('\n')));
    await until(async () =>
      (await rooms.findDefinition('past', 'news'))?.state.locked.length === 1 ? true : undefined,
    );
    await reason('Valid');
  });

  test('that change what time has closed are refused, and what is stored goes on', async () => {
    const first = at(0);
    const ending = (end: string) =>
      `, endOfLife: {startDate: "${new Date(Date.parse(first) + 1000).toISOString()}", endDate: "${end}", gracePeriod: P1D}`;
    const [end, later] = [at(3_600_000), at(7_200_000)];
    const { file, reason, snapshots } = await defined('closed', version('1', first, ending(end)));
    await reason('Valid');
    await save(file, yaml('closed', version('1', at(5), ending(end))));
    const document = await reason('ImmutableDocument');
    expect(document.message).toContain('is still served');
    expect(document.details.active).toEqual([{ language: 'en', version: '1', document: 'a' }]);
    dates.advance(1000);
    await save(file, yaml('closed', version('1', first, ending(later))));
    await reason('EndOfLifeLocked');
    expect(snapshots.get('closed')?.definitions.get('news')?.versions[0]?.endOfLife?.endDate).toBe(Date.parse(end));
    await save(file, yaml('closed', version('1', first, ending(end))));
    const again = await reason('Valid');
    expect(again.details.locked).toEqual([{ version: '1', endOfLife: true, documents: 1 }]);
  });

  test('whose text changes when it is in effect are refused, with the definition, the document and the field', async () => {
    const document = (body: string) =>
      `    - {version: "1", optInConfig: {type: direct}, documents: [{version: a, language: en, content: {title: News, mediaType: text/html, body: "${body}"}}]}`;
    const { file, reason } = await defined('worded', document('<p class=x>You agree.'));
    await reason('Valid');
    await save(file, yaml('worded', document('<p>You agree to more.')));
    const refused = await reason('ImmutableDocument');
    expect(refused.message).toContain(
      '/spec/versions/0/documents/0/content/body: The document a in en of version 1 of news has been in effect since ',
    );
    await save(file, yaml('worded', document('You agree.')));
    expect((await reason('ImmutableDocument')).message).toContain('content/body');
    await save(file, yaml('worded', document('<p class=x>You agree.')));
    await reason('Valid');
  });

  test('whose text is none are refused', async () => {
    const document = `    - {version: "1", optInConfig: {type: direct}, documents: [{version: a, language: en, content: {title: News, mediaType: text/html, body: "You agree."}}]}`;
    const { reason } = await defined('wordless', document);
    expect((await reason('Invalid')).message).toContain('Has no HTML element');
  });

  test('that go are archived, and the tenant goes after them', async () => {
    const { file, directory, snapshots, reason } = await defined('leaving', version('1', at(0)));
    await reason('Valid');
    await unlink(file);
    await until(async () => ((await rooms.findDefinition('leaving', 'news')) === undefined ? true : undefined));
    await until(() => (snapshots.get('leaving')?.definitions.size === 0 ? true : undefined));
    await unlink(join(directory, 'z-tenant.yaml'));
    await until(async () => ((await rooms.findTenant('leaving')) === undefined ? true : undefined));
  });

  test('let the API have its own, unless they adopt it', async () => {
    const { rooms: own } = world;
    const { file, reason } = await defined('shared', version('1', at(0)));
    await reason('Valid');
    const found = await own.findDefinition('shared', 'news');
    expect(found?.owner).toMatchObject({ source: 'files', name: 'shared-news' });
    await own.transferDefinition({ owner: found?.owner as never, actor: 'test' }, 'shared', 'news', { source: 'api' });
    await save(file, yaml('shared', version('1', at(0))).replace('  name: news', '  name: news\n  attributes: {}'));
    const refused = await reason('OwnedByAPI');
    expect(refused.details.active).toBeUndefined();
    await save(
      file,
      yaml('shared', version('1', at(0))).replace('  name: news', '  name: news\n  adoptionPolicy: Adopt'),
    );
    await reason('Valid');
    expect((await own.findDefinition('shared', 'news'))?.owner.source).toBe('files');
  });
});
