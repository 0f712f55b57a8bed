/** Every manifest of the parity corpus gets the verdict that it states. The API server is asked the same (test/kubernetes). */
import { expect, test } from 'vitest';
import { kinds } from '../../crds/index.ts';
import { bad, good, verdict } from './cases.ts';

const named = ({ name }: { name: string }) => name;

test('the corpus is there', () => {
  expect(good.length).toBeGreaterThanOrEqual(40);
  expect(bad.length).toBeGreaterThanOrEqual(150);
});

test.each(good.map((one) => [named(one), one] as const))('accepts %s', (_, one) => {
  expect(verdict(one)).toMatchObject({ ok: true });
});

test.each(bad.map((one) => [named(one), one] as const))('refuses %s', (name, one) => {
  const checked = verdict(one);
  const [, pointer, part] = /^# refused: (\S*) (.+)$/m.exec(one.text) ?? [];
  if (pointer === undefined || part === undefined) throw new Error(`${name} does not say what is refused`);
  if (checked.ok) throw new Error(`${name} was accepted`);
  expect(checked.errors[0]).toEqual({ pointer, detail: expect.stringContaining(part) });
  expect(checked.errors.filter((error) => error.pointer !== pointer)).toEqual([]);
});

test('every rule refuses something in the corpus', () => {
  const details = bad.flatMap((one) => {
    const checked = verdict(one);
    return checked.ok ? [] : checked.errors.map(({ detail }) => detail);
  });
  const messages = kinds.flatMap(({ rules }) => rules.map(({ message }) => message));
  expect(messages.filter((message) => !details.includes(message))).toEqual([]);
});
