import { expect, test } from 'vitest';
import { shownName } from '../../../server/core/auth/mask.ts';
import { roles } from '../../../server/core/auth/schema.ts';

const names = [
  ['user:user:alice@corp.example:home', 'user:user:***'],
  ['user:patient:p1', 'user:patient:***'],
  ['client:https://app.example/a:b', 'client:***'],
  ['member:config-editor@localhost', 'member:***'],
  ['operator:files/fleet/late', 'operator:files/fleet/late'],
  ['cli', 'cli'],
] as const;

test.each(names)('support sees %s as %s', (name, masked) => {
  expect(shownName('support', name)).toBe(masked);
});

test.each(roles.filter((role) => role !== 'support'))('%s sees names as they are', (role) => {
  for (const [name] of names) expect(shownName(role, name)).toBe(name);
});
