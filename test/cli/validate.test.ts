/** `accord validate`: what only all files together show, policies that say nothing, and its formats and exit codes. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { type Report, rulesOf } from '../../cli/validate/findings.ts';
import { formats } from '../../cli/validate/formats.ts';
import { limits } from '../../server/core/limits.ts';
import { rooms } from '../../server/rooms.ts';
import { issuerYaml, policyYaml, tenantYaml } from '../operator/manifests.ts';
import { drawnYaml, folderOf, type, validate, validateByProcess } from './validating.ts';

describe('over all files given', () => {
  test('what has a name twice is told with the other place, across kinds of types and of one issuer too', async () => {
    const folder = await folderOf({
      'a.yaml': [tenantYaml('aa'), policyYaml('aa', 'one', { object: 'read' }), type('ActorType', 'aa', 'car')].join(
        '---\n',
      ),
      'b.yaml': [policyYaml('aa', 'one', { object: 'read' }), policyYaml('aa', 'two', { object: 'read' })].join(
        '---\n',
      ),
      'c.yaml': [
        type('ResourceType', 'aa', 'automobile', 'name: car'),
        issuerYaml('aa', 'idp'),
        issuerYaml('aa', 'idp-again').replace('https://idp-again.', 'https://idp.'),
      ].join('---\n'),
    });
    expect(await validate(folder, ['.'])).toMatchObject({
      code: 1,
      lines: [
        './b.yaml:1: Policy default/one: a manifest of this kind and name is already in ./a.yaml:8',
        './b.yaml:12: Policy default/two: the same name of the tenant is already claimed in ./a.yaml:8',
        './c.yaml:1: ResourceType default/aa-automobile: the same name of the tenant is already claimed in ./a.yaml:19',
        './c.yaml:15: TrustedIssuer default/idp-again: the tenant already trusts this issuer by the manifest in ./c.yaml:8',
        '4 errors in 8 manifests.',
      ],
    });
  });

  test('unknown tenants and types are errors, and may be made elsewhere with --partial', async () => {
    const folder = await folderOf({
      'a.yaml': [
        tenantYaml('aa'),
        type('ActorType', 'aa', 'user'),
        policyYaml('elsewhere', 'read'),
        type(
          'RelationshipType',
          'aa',
          'r',
          'from: user\n  name: drives\n  to: car\n  inheritedThrough: [{relationship: "user:in:group", from: "group:has:car"}]',
        ),
      ].join('---\n'),
    });
    expect((await validate(folder, ['a.yaml'])).lines).toEqual([
      'a.yaml:19: Policy default/read: there is no Tenant elsewhere in the files given',
      'a.yaml:33: RelationshipType default/aa-r: there is no ActorType or ResourceType car in the files given',
      'a.yaml:34: RelationshipType default/aa-r: there is no RelationshipType user:in:group in the files given',
      'a.yaml:34: RelationshipType default/aa-r: there is no RelationshipType group:has:car in the files given',
      '4 errors in 4 manifests.',
    ]);
    expect(await validate(folder, ['--partial', 'a.yaml'])).toMatchObject({ code: 0, out: '4 manifests are good.\n' });
  });

  test('types that are inherited through one another are good', async () => {
    const through = (name: string, other: string) =>
      type(
        'RelationshipType',
        'aa',
        name,
        `from: car\n  name: ${name}\n  to: car\n  inheritedThrough: [{relationship: "car:${other}:car", from: "car:${other}:car"}]`,
      );
    const all = [
      tenantYaml('aa'),
      type('ResourceType', 'aa', 'car'),
      through('tows', 'pulls'),
      through('pulls', 'tows'),
    ];
    expect((await validate(await folderOf({ 'a.yaml': all.join('---\n') }), ['.'])).code).toBe(0);
  });

  test('nothing at all is an error, and so is a link that leads out; a foreign kind is a note', async () => {
    const folder = await folderOf({
      'empty/readme.md': 'x',
      'foreign/a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n',
      'ours/a.yaml': `${tenantYaml('aa')}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n`,
      'linked/a.yaml': tenantYaml('aa'),
      'large.yaml': '#'.repeat(limits.manifestFileBytesMax + 1),
    });
    expect((await validate(folder, ['empty'])).lines).toEqual([
      'empty: no file that ends in .yaml, .yml or .json is here',
      '1 error in 0 manifests.',
    ]);
    expect((await validate(folder, ['foreign'])).lines).toContain('foreign: no manifest of Accord is here');
    expect(await validate(folder, ['ours'])).toMatchObject({
      code: 0,
      lines: ['ours/a.yaml:8:1: note: ConfigMap of v1 is not a kind of Accord; it is ignored.', '1 manifest is good.'],
    });
    await symlink('../ours/a.yaml', join(folder, 'linked/b.yaml'));
    expect((await validate(folder, ['linked'])).lines[0]).toMatch(
      /^linked\/b\.yaml: The link points outside the directory/,
    );
    expect((await validate(folder, ['large.yaml'])).lines[0]).toMatch(/^large\.yaml: The file has \d+ bytes/);
  });
});

test.each([
  [
    'a package without the rule',
    policyYaml('aa', 'p', { source: 'package p\n\nallow := data.p.outcome_of\noutcome_of := "outcome"\n' }),
    1,
  ],
  [
    'only words that are no outcome',
    policyYaml('aa', 'p', { source: 'package p\n\noutcome := "permit" if input.x\n' }),
    1,
  ],
  ['a function of that name', policyYaml('aa', 'p', { source: 'package p\n\noutcome(x) := "allow"\n' }), 1],
  [
    'a graph that reaches no outcome',
    drawnYaml(
      [
        { id: 's', type: 'start' },
        { id: 'yes', type: 'outcome', outcome: 'allow' },
      ],
      [],
    ),
    1,
  ],
  ['one whose rule may not hold', policyYaml('aa', 'p', { source: 'package p\n\noutcome := "allow" if input.x\n' }), 0],
  ['one that has the rule as a default', policyYaml('aa', 'p'), 0],
])('a policy that can never say an outcome: %s', async (_, policy, code) => {
  const answer = await validate(await folderOf({}), ['-'], `${tenantYaml('aa')}---\n${policy}`);
  expect(answer.code).toBe(code);
  if (code === 1) expect(answer.lines[0]).toMatch(/^stdin:\d+: Policy default\/p: .*(outcome|leads nowhere)/);
});

test('a policy whose decisions read all relationships is told of, with the line, and is good', async () => {
  const source = 'package p\n\noutcome := "allow" if {\n  count(input.graph.subject) > 3\n}\n';
  const answer = await validate(
    await folderOf({}),
    ['-'],
    `${tenantYaml('aa')}---\n${policyYaml('aa', 'p', { source })}`,
  );
  expect(answer.code).toBe(0);
  // The fourth line of the Rego, whose block begins in line 15.
  expect(answer.lines[0]).toMatch(/^stdin:18: .*note: each decision reads all relationships of the subject \(line 4\)/);
});

test('a policy whose tests pass, and none of which is answered allow, is told of, and is good', async () => {
  const noted = async (answer: string, more: string) => {
    const source = `package p\n\ndefault outcome := "deny"\n\noutcome := "${answer}" if input.x == 1\n`;
    const policy = policyYaml('aa', 'p', { source, more: `tests: [${more}]` });
    const { code, lines } = await validate(await folderOf({}), ['--partial', '-'], `${tenantYaml('aa')}---\n${policy}`);
    expect(code, lines.join('\n')).toBe(0);
    return lines[0]?.includes('note: The tests of the policy pass, and none of them is answered allow');
  };
  const denies = '{name: a, input: {x: 2}, expect: {outcome: deny}}';
  expect(await noted('allow', denies)).toBe(true);
  expect(await noted('allow', `${denies}, {name: b, input: {x: 1}, expect: {outcome: allow}}`)).toBe(false);
  // It never allows: there is nothing to test.
  expect(await noted('deny', denies)).toBe(false);
  expect(await noted('allow', '')).toBe(false);
});

test('a policy that may read the wrong consents is told of; one whose data subjects no manifest has is an error', async () => {
  const source = 'package p\n\noutcome := "allow" if {\n  input.graph.resource == []\n  input.consents == []\n}\n';
  const wrong = `${tenantYaml('aa')}---\n${policyYaml('aa', 'p', { source })}`;
  const noted = await validate(await folderOf({}), ['-'], wrong);
  expect(noted.code).toBe(0);
  expect(noted.out).toMatch(/stdin:\d+: Policy default\/p: note: the policy reads relationships, and input\.consents/);
  // Whoever invites speaks for itself: nobody else's consent is meant.
  for (const verb of ['create', 'accept']) {
    const inviting = wrong.replace(/^( {2}name: ).*$/m, `$1"user:owns:car:invitation:${verb}"`);
    expect(inviting).toContain(`"user:owns:car:invitation:${verb}"`);
    expect((await validate(await folderOf({}), ['-'], inviting)).out).not.toContain('input.consents');
  }
  const lookalike = wrong.replace(/^( {2}name: ).*$/m, '$1"invitation:create"');
  expect((await validate(await folderOf({}), ['-'], lookalike)).out).toContain('input.consents');
  const more = 'dataSubjects: {relationship: "user:owns:car"}';
  const named = `${tenantYaml('aa')}---\n${policyYaml('aa', 'p', { source: 'package p\n\noutcome := "deny"\n', more })}`;
  const unknown = await validate(await folderOf({}), ['-'], named);
  expect(unknown.code).toBe(1);
  expect(unknown.lines).toEqual([
    'stdin:14: Policy default/p: there is no RelationshipType user:owns:car in the files given',
    'stdin:14: Policy default/p: note: dataSubjects has no effect: the policy does not read input.dataSubjects',
    '1 error in 2 manifests.',
  ]);
  expect((await validate(await folderOf({}), ['--partial', '-'], named)).code).toBe(0);
  const read = named.replace('outcome := "deny"', 'outcome := input.dataSubjects').replace(/ {2}dataSubjects:.*\n/, '');
  const refused = await validate(await folderOf({}), ['-'], read);
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining('does not say who they are')]);
});

test('of a drawn policy that reads all relationships the note is about the graph, not about a line of its Rego', async () => {
  const conditions = Array.from({ length: limits.narrowedUsesMax + 1 }, (_, n) => ({
    ...{ type: 'relationship', relationshipType: `r${n}`, target: 'entity', targetType: 'car', targetId: 'x' },
  }));
  const drawn = drawnYaml(
    [
      { id: 's', type: 'start' },
      { id: 'c', type: 'condition', match: 'any', conditions },
      { id: 'yes', type: 'outcome', outcome: 'allow' },
    ],
    [
      { from: 's', to: 'c' },
      { from: 'c', to: 'yes', on: 'true' },
    ],
  );
  const { code, lines } = await validate(await folderOf({}), ['--partial', '-'], `${tenantYaml('aa')}---\n${drawn}`);
  expect(code).toBe(0);
  expect(lines).toEqual([
    'stdin:14: Policy default/p: note: each decision reads all relationships of the subject; with fewer relationship conditions it reads only those that match',
    '2 manifests are good.',
  ]);
});

test('what is not there is a finding in every format, and no empty directory besides', async () => {
  const folder = await folderOf({ 'a.yaml': tenantYaml('aa') });
  const { code, out, error } = await validateByProcess(folder, ['--format', 'json', 'a.yaml', 'gone', 'a.yaml/b']);
  expect([code, error]).toEqual([1, '']);
  const message = 'There is no such file or directory.';
  expect(JSON.parse(out)).toEqual({
    valid: false,
    manifests: 1,
    findings: [
      { severity: 'error', rule: 'unreadable', message, file: 'a.yaml/b' },
      { severity: 'error', rule: 'unreadable', message, file: 'gone' },
    ],
  });
  for (const format of ['text', 'sarif', 'junit']) {
    const answer = await validate(folder, ['--format', format, 'gone']);
    expect(answer.code).toBe(1);
    expect(answer.out).toContain(message);
  }
});

/** Whether a text is well-formed XML of the kind that is written here: no comments, no sections of CDATA, no namespaces. */
function elementsOf(document: string): string[] {
  const [, body] = /^<\?xml version="1\.0" encoding="UTF-8"\?>\n(.*)$/s.exec(document) ?? [];
  expect(body).toBeDefined();
  const text = /^(?:[^<>&]|&#\d+;)*$/;
  const tag = /^<(\/?)([a-z]+)((?: [a-z]+="(?:[^<>&"]|&#\d+;)*")*)(\/?)>$/;
  const open: string[] = [];
  const elements: string[] = [];
  for (const part of (body as string).split(/(<[^>]*>)/)) {
    if (!part.startsWith('<')) {
      expect(part).toMatch(text);
      if (open.length === 0) expect(part.trim()).toBe('');
      continue;
    }
    expect(part).toMatch(tag);
    const [, end, name = '', attributes = '', empty] = tag.exec(part) ?? [];
    const names = [...attributes.matchAll(/ ([a-z]+)=/g)].map(([, attribute]) => attribute);
    expect(new Set(names).size).toBe(names.length);
    if (end === '/') expect(open.pop()).toBe(name);
    else {
      if (open.length === 0) expect(elements).toEqual([]); // one root
      elements.push(name);
      if (empty !== '/') open.push(name);
    }
  }
  expect(open).toEqual([]);
  return elements;
}

/** What the schema of SARIF 2.1.0 requires of what is written here: its required members, its bounds, and no other members. */
const strict = (required: readonly string[], properties: Record<string, object>) => ({
  ...{ type: 'object', additionalProperties: false },
  ...{ required, properties },
});
const text = { type: 'string' };
const place = { type: 'integer', minimum: 1 };
const reference = { type: 'string', pattern: "^(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})+$" };
const message = strict(['text'], { text });
const physicalLocation = strict(['artifactLocation'], {
  artifactLocation: strict([], { uri: reference }),
  region: strict([], { startLine: place, startColumn: place }),
});
const logicalLocation = strict([], { fullyQualifiedName: text, kind: text });
const result = strict(['message'], {
  ruleId: text,
  ruleIndex: { type: 'integer', minimum: -1 },
  level: { enum: ['none', 'note', 'warning', 'error'] },
  message,
  locations: {
    type: 'array',
    items: strict([], {
      physicalLocation,
      logicalLocations: { type: 'array', uniqueItems: true, items: logicalLocation },
    }),
  },
});
const rule = strict(['id'], { id: text, shortDescription: message });
const driver = strict(['name'], { name: text, rules: { type: 'array', uniqueItems: true, items: rule } });
const run = strict(['tool'], {
  tool: strict(['driver'], { driver }),
  columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
  results: { type: 'array', items: result },
});
const sarifLog = strict(['version', 'runs'], {
  $schema: text,
  version: { enum: ['2.1.0'] },
  runs: { type: 'array', minItems: 0, items: run },
});

describe('its formats', () => {
  const odd = 'a "b" <c> & \u0001 ]]>';
  const report: Report = {
    rules: rulesOf(rooms),
    manifests: 1,
    objects: [],
    findings: [
      {
        severity: 'error',
        rule: 'invalid',
        message: odd,
        file: 'a b/é<.yaml',
        line: 3,
        column: 4,
        object: 'Policy x/y',
      },
      { severity: 'error', rule: 'empty', message: 'nothing', file: '/root/dir' },
      { severity: 'note', rule: 'foreign-kind', message: 'ConfigMap', file: 'c.yaml', line: 1 },
    ],
  };

  test.each([
    ['findings', report],
    ['none', { ...report, findings: [] }],
  ])('SARIF and JUnit keep to their schemas: %s', (_, given) => {
    const validate = new Ajv().compile(sarifLog);
    validate(JSON.parse(formats.sarif(given)));
    expect(validate.errors).toBeNull();
    const cases = given.findings.length === 0 ? [] : ['testcase', 'failure', 'testcase', 'failure'];
    expect(elementsOf(formats.junit(given))).toEqual(['testsuites', 'testsuite', ...cases]);
  });

  test('SARIF has what version 2.1.0 requires', () => {
    const log = JSON.parse(formats.sarif(report));
    expect(log).toMatchObject({ version: '2.1.0', runs: [{ tool: { driver: { name: 'accord validate' } } }] });
    const [{ results, tool }] = log.runs;
    expect(results).toHaveLength(3);
    for (const { ruleId, ruleIndex, level, message } of results) {
      expect(tool.driver.rules[ruleIndex].id).toBe(ruleId);
      expect(['error', 'note']).toContain(level);
      expect(message.text).toEqual(expect.any(String));
    }
    const places = results.map(
      ({ locations }: { locations: { physicalLocation: unknown }[] }) => locations[0]?.physicalLocation,
    );
    expect(places).toEqual([
      { artifactLocation: { uri: 'a%20b/%C3%A9%3C.yaml' }, region: { startLine: 3, startColumn: 4 } },
      { artifactLocation: { uri: 'file:///root/dir' } },
      { artifactLocation: { uri: 'c.yaml' }, region: { startLine: 1 } },
    ]);
  });

  test("JUnit's XML escapes what would be markup, and holds no character that XML does not", () => {
    const xml = formats.junit(report);
    expect(xml).toContain('message="a &#34;b&#34; &#60;c&#62; &#38; \uFFFD ]]&#62;"');
    expect(xml).toContain('<testcase name="Policy x/y" classname="a b/é&#60;.yaml">');
    expect(xml).toContain('tests="2" failures="2"');
    expect(xml.replaceAll(/<[^<>]*>/g, '')).not.toMatch(/[<>]|&(?!#\d+;)/);
  });

  test('each comes from the command, alone on its output, and with the same exit code', async () => {
    const folder = await folderOf({ 'a.yaml': tenantYaml('aa'), 'bad.yaml': 'kind: [oops\n' });
    for (const format of ['json', 'sarif', 'junit', 'text']) {
      const { code, out } = await validate(folder, ['--format', format, 'a.yaml']);
      expect(code).toBe(0);
      if (format === 'sarif') expect(new Ajv().validate(sarifLog, JSON.parse(out))).toBe(true);
      if (format === 'junit') expect(elementsOf(out)).toEqual(['testsuites', 'testsuite', 'testcase']);
    }
    const { code, out } = await validate(folder, ['--format', 'json', 'a.yaml', 'bad.yaml']);
    expect([code, JSON.parse(out)]).toEqual([
      1,
      {
        valid: false,
        manifests: 1,
        findings: [
          { severity: 'error', rule: 'unreadable', message: expect.any(String), file: 'bad.yaml', line: 2, column: 1 },
        ],
      },
    ]);
  });
});

test('a wrong command line ends with 2; --help shows the command, and help COMMAND the same', async () => {
  const folder = await folderOf({});
  for (const args of [[], ['--format', 'xml', '.'], ['--all', '.']]) {
    const { code, error } = await validateByProcess(folder, args);
    expect([code, error]).toEqual([2, expect.stringContaining('usage: accord validate [--partial]')]);
  }
  const { code, out } = await validateByProcess(folder, ['--help']);
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/^accord validate: .*\n\nusage: accord validate \[--partial\]/),
  ]);
  expect(out).not.toContain('accord start');
});
