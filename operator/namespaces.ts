/**
 * From which namespaces a child may name a Tenant, pure: the Tenant's allowedNamespaces against the name and the labels
 * of a namespace, with the meaning that label selectors have everywhere in Kubernetes.
 */
import type { TenantSpec } from '../crds/index.ts';

export type AllowedNamespaces = NonNullable<TenantSpec['allowedNamespaces']>;
type Selector = NonNullable<AllowedNamespaces['selector']>;
type Labels = Readonly<Record<string, string>>;

/** `unknown`: the labels decide, and nobody knows them (yet). It is no permission, and no revocation either. */
export type Permission = 'allowed' | 'refused' | 'unknown';

/**
 * Whether objects of a namespace may name the tenant.
 * @param allowed of the Tenant; undefined: only the namespace that is named like it, also while there is no such tenant
 * @param labels of the namespace; undefined: the namespace is not known (yet)
 */
export function permissionOf(
  tenant: string,
  allowed: AllowedNamespaces | undefined,
  namespace: string,
  labels: Labels | undefined,
): Permission {
  if (allowed === undefined) return namespace === tenant ? 'allowed' : 'refused';
  if (allowed.names?.includes(namespace)) return 'allowed';
  if (allowed.selector === undefined) return 'refused';
  if (labels === undefined) return 'unknown';
  return selects(allowed.selector, labels) ? 'allowed' : 'refused';
}

/** Whether all requirements hold; a selector without any selects everything. */
function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => has(labels, key) && labels[key] === value) &&
    matchExpressions.every((requirement) => meets(requirement, labels))
  );
}

type Requirement = NonNullable<Selector['matchExpressions']>[number];

/** NotIn holds for an absent label too (k8s.io/apimachinery, labels.Requirement). */
function meets({ key, operator, values = [] }: Requirement, labels: Labels): boolean {
  const isThere = has(labels, key);
  const isListed = isThere && values.includes(labels[key] as string);
  switch (operator) {
    case 'In':
      return isListed;
    case 'NotIn':
      return !isListed;
    case 'Exists':
      return isThere;
    case 'DoesNotExist':
      return !isThere;
    default:
      // A word that the schema does not know is no permission.
      return false;
  }
}

function has(labels: Labels, key: string): boolean {
  return Object.hasOwn(labels, key);
}
