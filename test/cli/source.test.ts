/** Which source the command line names, and what it refuses. */
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type Parsed, parseCommandLine, UsageError } from '../../cli/arguments.ts';
import { choiceOf } from '../../cli/choice.ts';

const choose = (line: string, defaults = {}) => choiceOf(parseCommandLine(line.split(' ')) as Parsed, defaults);

test('operate on files', () => {
  expect(choose('operate --source files --manifests m --data d')).toEqual({
    ...{
      kind: 'files',
      manifests: 'm',
      statusDirectory: resolve('d/status'),
      invitationsDirectory: resolve('d/invitations'),
      secretsDirectory: resolve('d/secrets'),
    },
  });
});

test('operate on a cluster', () => {
  expect(choose('operate --source kubernetes')).toEqual({ kind: 'kubernetes', kubeconfig: undefined, adopt: false });
  expect(choose('operate --source kubernetes --kubeconfig k --adopt-cluster')).toEqual({
    ...{ kind: 'kubernetes', kubeconfig: 'k', adopt: true },
  });
});

test('start takes files where nothing is said', () => {
  const defaults = { source: 'files', manifests: 'examples' };
  expect(choose('start', defaults)).toMatchObject({ kind: 'files', manifests: 'examples' });
  expect(choose('start --source kubernetes', defaults)).toMatchObject({ kind: 'kubernetes' });
});

test.each([
  ['operate', /--source is files or kubernetes/],
  ['operate --source etcd', /--source is files or kubernetes/],
  ['operate --source files', /--manifests names the directory/],
  ['operate --source kubernetes --manifests m', /--manifests goes with --source files/],
  ['operate --source files --manifests m --kubeconfig k', /go with --source kubernetes/],
  ['operate --source files --manifests m --adopt-cluster', /go with --source kubernetes/],
])('accord %s is refused with the usage', (line, why) => {
  expect(() => choose(line)).toThrow(UsageError);
  expect(() => choose(line)).toThrow(why);
  expect(() => choose(line)).toThrow(/usage: accord operate/);
});
