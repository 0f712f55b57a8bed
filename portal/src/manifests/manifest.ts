/** An object of the tenant as a manifest. What writes YAML is loaded when somebody asks for it. */
export type Spec = Readonly<Record<string, unknown>>;
export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  spec: Spec;
};
/** An object by its name in the API, or by the manifest that owns it, `fleet/car-wash`. */
export type Of = { kind: string } & ({ name: string } | { manifest: string });
/** As C/resources/manifest answers it. */
export type Stored = { manifest: Manifest; plural: string; comments: string[]; managedBy: string };

/** What is not stored yet, or only in part, for "show as". */
export const yamlOfNew =
  (...manifests: Manifest[]) =>
  async (): Promise<string> =>
    (await import('./yaml.ts')).yamlOfAll(manifests);

/** A manifest of something that none owns. @param object its name in Kubernetes, made from `name` */
export const newManifest = (kind: string, tenant: string, name: string, spec: Spec): Manifest => ({
  ...{ apiVersion: 'accord.dev/v1alpha1', kind },
  metadata: { name: objectName(name), namespace: tenant },
  spec: { tenantRef: { name: tenant }, ...spec },
});

/** What the object of a manifest is called in Kubernetes. */
const objectName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 200)
    .replaceAll(/^-+|-+$/g, '') || 'x';
