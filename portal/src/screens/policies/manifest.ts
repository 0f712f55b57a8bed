/** A policy as a manifest, and a change of one that a manifest owns. */
import { block, objectName } from '../../core/yaml.ts';
import { bodyOf, type Draft } from './shapes.ts';

/** JSON is YAML: what is not Rego is written as JSON, which nobody can misread. */
function spec(draft: Draft, indent: string): string[] {
  const { rego, ...rest } = bodyOf(draft) as { rego?: string };
  return [
    ...(rego === undefined ? [] : [`${indent}rego: ${block(rego, `${indent}  `)}`]),
    ...Object.entries(rest).map(([field, value]) => `${indent}${field}: ${JSON.stringify(value)}`),
  ];
}

type Named = { tenant: string; policy: string; owner?: string };
const owned = (owner: string | undefined) => {
  const [source = '', path = ''] = (owner ?? '').split(' ');
  const [first = '', second] = path.split('/');
  return { source, namespace: second === undefined ? undefined : first, name: second ?? first };
};

export function manifestOf(draft: Draft, { tenant, policy, owner }: Named): string {
  const { namespace = tenant, name } = owner === undefined || owner === 'api' ? { name: '' } : owned(owner);
  return [
    'apiVersion: accord.dev/v1alpha1',
    'kind: Policy',
    'metadata:',
    `  name: ${JSON.stringify(name || objectName(policy, 'policy'))}`,
    `  namespace: ${JSON.stringify(namespace)}`,
    'spec:',
    '  tenantRef:',
    `    name: ${JSON.stringify(tenant)}`,
    `  name: ${JSON.stringify(policy)}`,
    ...spec(draft, '  '),
    '',
  ].join('\n');
}

/** What changes the manifest that owns the policy: a command for one in Kubernetes, the whole manifest for one in a file. */
export function changeOf(draft: Draft, named: Named & { owner: string }): string {
  const { source, namespace, name } = owned(named.owner);
  if (source !== 'kubernetes') return manifestOf(draft, named);
  const patch = ['spec:', ...spec(draft, '  ')].join('\n');
  return [
    `kubectl patch policies.accord.dev ${name} -n ${namespace} --type merge --patch-file /dev/stdin <<'PATCH'`,
    patch,
    'PATCH',
    '',
  ].join('\n');
}
