import { describe, expect, test } from 'vitest';
import { parseFile } from '../../../operator/files/parse-file.ts';
import { limits } from '../../../server/core/limits.ts';
import { policyYaml, tenantYaml } from '../manifests.ts';

const messages = (text: string) => parseFile('a.yaml', text).problems.map((one) => `${one.place}: ${one.message}`);

describe('a file of manifests', () => {
  test('holds several documents, comments and empty ones; the namespace defaults', () => {
    const { objects, problems, whole } = parseFile(
      'a.yaml',
      `# one\n---\n${tenantYaml('fleet')}---\n---\n${policyYaml('fleet', 'read')}`,
    );
    expect([problems, whole]).toEqual([[], true]);
    expect(objects.map((one) => [one.key, one.checked.ok, one.line, one.claims])).toEqual([
      ['Tenant//fleet', true, 3, { tenant: 'fleet', name: 'fleet' }],
      ['Policy/default/read', true, 11, { tenant: 'fleet', name: 'read' }],
    ]);
  });

  test('may be JSON', () => {
    const text = JSON.stringify({
      apiVersion: 'accord.dev/v1alpha1',
      kind: 'Tenant',
      metadata: { name: 'json' },
      spec: { displayName: 'J', audiences: ['j'] },
    });
    expect(parseFile('a.json', text).objects[0]?.checked.ok).toBe(true);
  });

  test.each([
    ['nothing', ''],
    ['a comment', '# nothing yet\n'],
    ['separators', '---\n---\n'],
  ])('may hold %s', (_, text) => {
    expect(parseFile('a.yaml', text)).toEqual({ objects: [], problems: [], whole: true });
  });

  test('a syntax error makes the whole file unreadable, with line and column', () => {
    const parsed = parseFile('a.yaml', `${tenantYaml('fleet')}---\nkind: [Policy\nspec: {}\n`);
    expect(parsed).toMatchObject({ objects: [], whole: false });
    expect(parsed.problems[0]?.place).toMatch(/^a\.yaml:(8|9):\d+$/);
  });

  test('a key that stands twice is an error', () => {
    expect(messages('kind: Tenant\nkind: Policy\n')[0]).toMatch(/^a\.yaml:2:1: Map keys must be unique/);
  });

  test('keys are the same in any spelling and at any depth, and each place is told', () => {
    const text = 'spec:\n  a: 1\n  "a": 2\n  ? a\n  : 3\nlist:\n- {x: 1, y: 2, x: 3}\nonce: {a: 1}\n';
    expect(messages(text)).toEqual(['3:3', '4:5', '7:16'].map((at) => `a.yaml:${at}: Map keys must be unique`));
  });

  test('one key that stands twice is found among twenty thousand', () => {
    const keys = Array.from({ length: 20_000 }, (_, n) => `k${n}: 1\n`).join('');
    expect(messages(`${keys}k7: 2\n`)).toEqual(['a.yaml:20001:1: Map keys must be unique']);
  });

  test('what a schema refuses is an object with its place, so that it can be told on it', () => {
    const { objects, whole } = parseFile('a.yaml', policyYaml('fleet', 'read', { more: 'regoo: x' }));
    expect(whole).toBe(true);
    expect(objects[0]?.checked).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^a\.yaml:7:3: \/spec\/regoo /),
    });
  });

  test('a bare word that kubectl reads differently is refused with what to write', () => {
    const text = tenantYaml('fleet').replace('spec:', 'spec:\n  decisionLog: { mode: off }');
    expect(parseFile('a.yaml', text).objects[0]?.checked).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^a\.yaml:\d+:\d+: a bare off is a boolean to kubectl.*write "off"$/),
    });
    expect(parseFile('a.yaml', text.replace('off', '"off"')).objects[0]?.checked.ok).toBe(true);
    const many = `${tenantYaml('fleet')}status: [${'off, '.repeat(limits.manifestRefusalsMax + 1)}off]\n`;
    const { checked } = parseFile('a.yaml', many).objects[0] ?? {};
    expect(checked?.ok === false && checked.message.split('\n')).toHaveLength(limits.manifestRefusalsMax);
  });

  test.each([
    [
      'an unknown kind of ours',
      'apiVersion: accord.dev/v1alpha1\nkind: Plicy\nmetadata: {name: x}\n',
      /^a\.yaml:2:1: \/kind must be one of/,
    ],
    [
      'another version',
      'apiVersion: accord.dev/v2\nkind: Policy\nmetadata: {name: x}\n',
      /^a\.yaml:1:1: \/apiVersion must be/,
    ],
    [
      'a misspelt group',
      'apiVersion: acord.dev/v1alpha1\nkind: Policy\nmetadata: {name: x}\n',
      /^a\.yaml:1:1: \/apiVersion must be/,
    ],
    [
      'no name',
      'apiVersion: accord.dev/v1alpha1\nkind: Tenant\nmetadata: {}\nspec: {}\n',
      /\/metadata\/name is required/,
    ],
    ['no object', 'just text\n', /^a\.yaml:1:1: The document must be an object/],
    [
      'a name with a slash',
      'apiVersion: accord.dev/v1alpha1\nkind: Tenant\nmetadata: {name: a/b}\nspec: {}\n',
      /^a\.yaml:3:12: \/metadata\/name must be/,
    ],
  ])('%s cannot be identified: the file is not whole', (_, text, message) => {
    const parsed = parseFile('a.yaml', text);
    expect(parsed).toMatchObject({ objects: [], whole: false });
    expect(messages(text).join('\n')).toMatch(message);
  });

  test("another program's manifest is ignored and reported", () => {
    const parsed = parseFile('a.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n');
    expect(parsed.whole).toBe(true);
    expect(parsed.problems).toEqual([
      { place: 'a.yaml:1:1', message: 'ConfigMap of v1 is not a kind of Accord; it is ignored.', severity: 'note' },
    ]);
  });

  test('an alias bomb is refused', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`);
    const parsed = parseFile('a.yaml', `l0: &l0 [x]\n${levels.join('\n')}\n`);
    expect(parsed.whole).toBe(false);
    expect(parsed.problems[0]?.message).toMatch(/alias/i);
  });

  test('the bound of documents holds, and one more is refused', () => {
    const documents = (count: number) => '---\nx: 1\n'.repeat(count);
    expect(messages(documents(limits.manifestDocumentsPerFileMax))[0]).toMatch(/\/apiVersion is required/);
    expect(messages(documents(limits.manifestDocumentsPerFileMax + 1))).toEqual([
      expect.stringMatching(/documents; 2000 are allowed/),
    ]);
  });

  test('the digest knows the spec and nothing else', () => {
    const digest = (text: string) => parseFile('a.yaml', text).objects[0]?.digest;
    const one = digest(tenantYaml('fleet'));
    expect(digest(`# comment\n${tenantYaml('fleet', '', 'a: "1"')}`)).toBe(one);
    expect(digest(tenantYaml('fleet', 'deletionPolicy: Delete'))).not.toBe(one);
  });

  test('a line of Rego is a line of the file', () => {
    const [object] = parseFile('a.yaml', policyYaml('fleet', 'read')).objects;
    expect(object?.locate?.({ pointer: '/spec/rego', detail: '', line: 3 })).toBe('a.yaml:10');
    expect(object?.locate?.({ pointer: '/spec/name', detail: '' })).toBe('a.yaml:6');
    expect(object?.locate?.({ pointer: '/spec/graph', detail: '' })).toBeUndefined();
  });
});
