/** A mail template as a manifest (docs/resources.md). */
import { block } from '../../core/yaml.ts';

type Of = { tenant: string; name: string; language: string };

export function manifestOf(
  { tenant, name, language }: Of,
  parts: { subject: string; html?: string; text?: string },
): string {
  const { subject, html, text } = parts;
  const object = `${name}-${language}`.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  return [
    'apiVersion: accord.dev/v1alpha1',
    'kind: MailTemplate',
    `metadata: {name: ${JSON.stringify(object)}, namespace: ${JSON.stringify(tenant)}}`,
    'spec:',
    `  tenantRef: {name: ${JSON.stringify(tenant)}}`,
    `  name: ${JSON.stringify(name)}`,
    `  language: ${JSON.stringify(language)}`,
    `  subject: ${JSON.stringify(subject)}`,
    ...(html ? [`  html: ${block(html, '    ')}`] : []),
    ...(text ? [`  text: ${block(text, '    ')}`] : []),
    '',
  ].join('\n');
}
