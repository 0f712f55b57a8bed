/** Small manifests for the operator's tests. */

export const tenantYaml = (name: string, more = '', annotations = '') => `apiVersion: accord.dev/v1alpha1
kind: Tenant
metadata: {name: ${name}${annotations === '' ? '' : `, annotations: {${annotations}}`}}
spec:
  displayName: The ${name} company
  audiences: [${name}-api]
${more === '' ? '' : `  ${more}\n`}`;

export const rego = (answer: string) => `package p\n\ndefault outcome := "${answer}"\n`;

export function policyYaml(
  tenant: string,
  name: string,
  options: { object?: string; answer?: string; source?: string; more?: string } = {},
) {
  const source = options.source ?? rego(options.answer ?? 'allow');
  const block = source
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n');
  return `apiVersion: accord.dev/v1alpha1
kind: Policy
metadata: {name: ${name}}
spec:
  tenantRef: {name: ${tenant}}
  name: "${options.object ?? name}"
${options.more === undefined ? '' : `  ${options.more}\n`}  rego: |
${block}`;
}

export const issuerYaml = (tenant: string, name: string, more = '') => `apiVersion: accord.dev/v1alpha1
kind: TrustedIssuer
metadata: {name: ${name}}
spec:
  tenantRef: {name: ${tenant}}
  issuer: https://${name}.example.com/
${more === '' ? '' : `  ${more}\n`}`;
