/** `accord validate`: libraries, data documents and policies of a directory are compiled together. */
import { expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { policyYaml, tenantYaml } from '../operator/manifests.ts';
import { folderOf, validate } from './validating.ts';

const yaml = (kind: string, name: string, spec: string) => `apiVersion: accord.dev/v1alpha1
kind: ${kind}
metadata: {name: ${name}}
spec:
  tenantRef: {name: aa}
${spec}`;
const library = (rego: string, name = 'company.roles') =>
  yaml(
    'PolicyLibrary',
    name,
    `  package: ${name}\n  modules:\n    - name: m\n      rego: |\n        package ${name}\n        ${rego}\n`,
  );
const data = (path = 'company/managers', value = '{ids: [ann]}') =>
  yaml('PolicyData', path.replace('/', '-'), `  path: ${path}\n  value: ${value}\n`);
const policy = policyYaml('aa', 'read', {
  source: 'package p\ndefault outcome := "deny"\noutcome := "allow" if data.company.roles.is_manager(input.subject)\n',
  more: 'tests: [{name: ann may, input: {subject: {id: ann}}, expect: {outcome: allow}}]',
});
const isManager = 'is_manager(s) if s.id in data.company.managers.ids';

async function linesOf(...manifests: string[]) {
  const folder = await folderOf({ 'a.yaml': [tenantYaml('aa'), ...manifests].join('---\n') });
  const { code, lines } = await validate(folder, ['a.yaml']);
  return [code, ...lines].join('\n');
}

test('that fit together, whatever comes first', async () => {
  expect(await linesOf(policy, library(isManager), data())).toBe('0\n4 manifests are good.');
});

test.each<[string, string[], RegExp]>([
  ['a library that is missing', [policy, data()], /Policy default\/read: .*data\.company\.roles/],
  [
    'a document that is missing',
    [library(isManager)],
    /a\.yaml:\d+: PolicyLibrary .*line 2, column 26: data\.company\.managers\.ids is not available/,
  ],
  [
    'a test that fails',
    [policy, library(isManager), data('company/managers', '{ids: []}')],
    /Policy default\/read: .*ann may/,
  ],
  [
    'a function that is missing',
    [policy, library('x := 1'), data()],
    /undefined function data\.company\.roles\.is_manager/,
  ],
  [
    'policyDocumentsBytesMax of all documents of a policy',
    [
      policyYaml('aa', 'read', {
        source: 'package p\noutcome := "allow" if {\n  data.a.x\n  data.b.x\n  data.c.x\n  data.d.x\n}\n',
      }),
      ...['a', 'b', 'c'].map((path) => data(path, `{x: ${'x'.repeat(limits.policyDataBytesMax - 9)}}`)),
      data('d', '{x: abc}'),
    ],
    /Policy default\/read: .* have 3145736 bytes together; 3145728 are allowed/,
  ],
  ['an overlap', [library('x := 1'), data('company')], /overlap/],
  [
    'a cycle',
    [library('x := data.b.y'), library('y := data.company.roles.x', 'b')],
    /must not refer to each other in a cycle/,
  ],
])('%s', async (_, manifests, message) => {
  const told = await linesOf(...manifests);
  expect(told).toMatch(/^1\n/);
  expect(told).toMatch(message);
});

test.each([
  ['its rules', 'owns(r) if {\n          r in input.graph.subject\n        }\n        agreed if input.consents == []'],
  ['the whole input', 'owns(i) if i.graph.subject == []\n        agreed if true\n        has(i) if i.consents == []'],
])('a policy that reads relationships and consents through a library, by %s, is noted', async (_, rego) => {
  const source =
    'package p\ndefault outcome := "deny"\noutcome := "allow" if {\n  data.company.roles.owns(input)\n  data.company.roles.agreed\n}\n';
  const lines = await linesOf(policyYaml('aa', 'read', { source }), library(rego));
  expect(lines).toContain('input.consents, which are the consents of the subject that asks');
});
