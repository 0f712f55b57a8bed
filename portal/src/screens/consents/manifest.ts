/** A definition as a ConsentDefinition manifest in YAML. */
import { objectName, yaml } from '../../core/yaml.ts';
import type { Tree } from './tree.ts';

/** @param tree with texts (withTexts) */
export function manifestOf(tenant: string, { config, versions, managedBy }: Tree): string {
  const { archived: _, languageFallback, name, ...attributes } = config;
  const owner = managedBy.split(' ')[1]?.split('/') ?? [];
  const manifest = {
    apiVersion: 'accord.dev/v1alpha1',
    kind: 'ConsentDefinition',
    metadata: { name: owner.at(-1) ?? objectName(name, 'consent'), namespace: owner.length > 1 ? owner[0] : tenant },
    spec: {
      ...{ tenantRef: { name: tenant }, name, ...attributes },
      versions: versions.map(({ config: { endOfLife, ...version }, documents }) => ({
        ...{ ...version, optInConfig: { type: 'direct' }, endOfLife },
        documents: documents.map((one) => ({ ...one.config, content: contentOf(one.config.content) })),
      })),
      languageFallback,
    },
  };
  return yaml(manifest);
}

/** The digest goes with a url only: that of a body is computed. */
const contentOf = (content: Tree['versions'][number]['documents'][number]['config']['content']) =>
  content === undefined || content.url !== undefined ? content : { ...content, digest: undefined };
