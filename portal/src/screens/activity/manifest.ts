/** A mail template as a manifest (docs/resources.md). */
import { objectName, yaml } from '../../core/yaml.ts';

type Of = { tenant: string; name: string; language: string };
type Parts = { subject: string; html?: string; text?: string };

export const manifestOf = ({ tenant, name, language }: Of, { subject, html, text }: Parts): string =>
  yaml({
    apiVersion: 'accord.dev/v1alpha1',
    kind: 'MailTemplate',
    metadata: { name: objectName(`${name}-${language}`, 'template'), namespace: tenant },
    spec: { tenantRef: { name: tenant }, name, language, subject, html, text },
  });
