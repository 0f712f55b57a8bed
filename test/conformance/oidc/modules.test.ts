/**
 * Each module of the OpenID conformance suite that the product is held to, by its name, against the whole application: real
 * requests, openid-client as the relying party, and a browser that fills in the pages' forms. It does not replace a run of
 * the suite; it says at each commit what the suite would.
 */
import { expect, test } from 'vitest';
import { answered } from './answered.ts';
import { asking } from './asking.ts';
import { leaving } from './leaving.ts';
import { names } from './names.ts';
import { createWorld, type Modules } from './world.ts';

const modules: Modules = { ...asking, ...answered, ...leaving };
const world = await createWorld();

test('every module is here, and no other', () => {
  expect(Object.keys(modules).sort()).toEqual([...names].sort());
  expect(Object.keys(modules)).toHaveLength([asking, answered, leaving].flatMap(Object.keys).length);
});

test.each(names)('%s', async (name) => {
  expect.hasAssertions();
  await modules[name]?.(world);
});
