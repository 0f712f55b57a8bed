/** Parts of a Tenant as its manifest has them. JSON is YAML: values are written as JSON, which nobody can misread. */
const lines = (spec: object, indent: string) =>
  Object.entries(spec)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${indent}${name}: ${JSON.stringify(value)}`);

/** What changes the manifest: a command for one in Kubernetes, the fields of the manifest for others. */
export function tenantManifest(tenant: string, managedBy: string | undefined, spec: object): string {
  const name = managedBy?.split(' ')[1] ?? tenant;
  if (managedBy?.startsWith('kubernetes '))
    return [
      `kubectl patch tenants.accord.dev ${name} --type merge --patch-file /dev/stdin <<'PATCH'`,
      ...['spec:', ...lines(spec, '  '), 'PATCH', ''],
    ].join('\n');
  return [
    '# These fields of the Tenant; its manifest has others besides.',
    ...['apiVersion: accord.dev/v1alpha1', 'kind: Tenant', `metadata: {name: ${JSON.stringify(name)}}`],
    ...['spec:', ...lines(spec, '  '), ''],
  ].join('\n');
}
