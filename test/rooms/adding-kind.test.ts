/**
 * A kind of custom resource is added by its room and crds/ alone: all of this kind is in reminders/, and the generators,
 * `accord validate`, the operator and `accord export` know it.
 */
import './reminders/register.ts';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readAll } from '../../cli/validate/read.ts';
import { check } from '../../cli/validate.ts';
import { definitionFile, staleFiles } from '../../crds/generate.ts';
import { pathOf } from '../../operator/kubernetes/convert.ts';
import type { KindName } from '../../operator/source.ts';
import { systemClock } from '../../server/core/clock.ts';
import { exportTenant } from '../../server/resources/index.ts';
import { rooms } from '../../server/rooms.ts';
import { asAdmin } from '../helpers/admin.ts';
import { conditionOf, createWorld, operatorServices, save, until } from '../operator/harness.ts';
import { tenantYaml } from '../operator/manifests.ts';
import type { TestServices } from '../operator/rooms.ts';
import { reminder } from './reminders/crd.ts';
import { migration } from './reminders/room.ts';

const world = await createWorld();
beforeAll(async () => {
  for (const statement of migration) await asAdmin(world.adminUrl, statement);
});

const manifest = (kind: string, name: string, spec: string) =>
  `apiVersion: accord.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}, namespace: acme}\nspec: {tenantRef: {name: acme}, ${spec}}\n`;
const reminderYaml = (spec: string, name = 'water') => manifest('Reminder', name, spec);
const guests = manifest('ActorType', 'guest', 'name: guest');
const key = 'Reminder/acme/water';

describe('a kind that a room adds', () => {
  test('is generated: its definition, and what the chart says of kinds', () => {
    expect(staleFiles().sort()).toEqual([
      'charts/accord/Chart.yaml',
      'charts/accord/files/crds/accord.dev_reminders.yaml',
      'charts/accord/files/editors.yaml',
      'crds/accord.dev_reminders.yaml',
    ]);
    const { spec } = parse(definitionFile(reminder).text);
    expect(spec.names).toMatchObject({ kind: 'Reminder', plural: 'reminders', shortNames: ['arem'] });
    expect(spec.versions[0].schema.openAPIV3Schema.properties.status.properties.read).toMatchObject({
      type: 'integer',
    });
  });

  test('has a path on the API server', () => {
    const target = { kind: 'Reminder' as KindName, namespace: 'acme', name: 'water' };
    expect(pathOf(target)).toBe('/apis/accord.dev/v1alpha1/namespaces/acme/reminders/water');
  });

  test('is validated: its schema, what its tenant refuses, what it refers to, and its own rules', async () => {
    const directory = await world.directory();
    await save(join(directory, 'a.yaml'), [tenantYaml('acme'), guests].join('---\n'));
    const reminders = [
      reminderYaml('for: guest, text: drink water, sound: true', 'good'),
      reminderYaml('for: guest, text: DRINK', 'loud'),
      reminderYaml('for: host, text: drink water', 'again'),
      reminderYaml('for: guest, text: 1', 'number'),
    ];
    await save(join(directory, 'b.yaml'), reminders.join('---\n'));
    const { objects, findings } = await readAll([directory], () => {});
    expect(findings).toEqual([]);
    const checked: string[] = [];
    const progress = ({ name }: { name: string }) => void checked.push(name);
    const found = await check(objects, { rooms, clock: systemClock, partial: false, progress });
    const told = found.map(({ object, severity, rule, message }) => `${object}: ${severity}: ${rule}: ${message}`);
    expect(told.sort()).toEqual([
      `Reminder acme/again: error: duplicate: the tenant is already reminded of this by the manifest in ${directory}/b.yaml:1`,
      'Reminder acme/again: error: unknown-reference: there is no ActorType host in the files given',
      'Reminder acme/good: note: no-effect: spec.sound has no effect: reminders are silent.',
      'Reminder acme/loud: error: refused: A reminder must not be in capitals.',
      'Reminder acme/loud: note: short-reminder: it says little',
      'Reminder acme/number: error: invalid: /spec/text must be a string, but is the number 1',
    ]);
    expect(checked).toEqual(['good', 'loud', 'again']);
  });

  test('is reconciled, told of, looked at again when others change what is told, exported and removed', async () => {
    const directory = await world.directory();
    await save(join(directory, 'tenant.yaml'), tenantYaml('acme'));
    await save(join(directory, 'water.yaml'), reminderYaml('for: guest, text: drink water'));
    await world.serve();
    const services = { ...world.services, reminders: world.services.types } as TestServices;
    const run = world.operate(directory, { services: operatorServices(services) });
    const statusOf = () => run.changes.findLast(({ target }) => target.key === key)?.status;
    await run.operator.settled();
    expect(conditionOf(run, key, 'Accepted')).toMatchObject({
      ...{ status: 'False', reason: 'NobodyToRemind' },
      message: expect.stringContaining('The tenant has no actors of this type.'),
    });

    await save(join(directory, 'guests.yaml'), guests);
    await until(() => conditionOf(run, key)?.status === 'True');
    expect(conditionOf(run, key, 'Read')).toMatchObject({ status: 'False', reason: 'NotRead' });
    expect(statusOf()).toMatchObject({ read: 0 });

    const read = 'update accord.reminder set read = 3, read_at = now() where tenant = $1';
    await asAdmin(world.adminUrl, read, ['acme']);
    await until(() => conditionOf(run, key, 'Read')?.status === 'True');
    expect(statusOf()).toMatchObject({ read: 3 });

    const options = { all: true, allowPastDates: false, now: systemClock.now() };
    const exported = await world.database.tenant('acme', (tx) => exportTenant(tx, rooms, 'acme', options));
    expect(exported?.manifests.at(-1)).toMatchObject({
      plural: 'reminders',
      manifest: parse(reminderYaml('for: guest, text: drink water')),
    });

    await rm(join(directory, 'water.yaml'));
    await until(() => statusOf() === undefined);
    expect(await asAdmin(world.adminUrl, 'select from accord.reminder')).toEqual([]);
  });
});
