/** What one kind of custom resource is made of: the generator, the checker and the documentation read nothing else. */
import Type, { type TObject } from 'typebox';
import { bounds } from './bounds.ts';
import { strictObject, text } from './fields.ts';
import { patterns } from './patterns.ts';
import type { Rule } from './rule.ts';

export const group = 'accord.dev';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
export const category = 'accord';

interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  /** 0 is always shown, 1 only with `kubectl get -o wide`. */
  readonly priority: 0 | 1;
}

export interface Kind<Name extends string = string, Spec extends TObject = TObject> {
  readonly kind: Name;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly scope: 'Cluster' | 'Namespaced';
  readonly description: string;
  readonly specSchema: Spec;
  readonly statusSchema: TObject;
  readonly printerColumns: readonly PrinterColumn[];
  /** CEL rules and their TypeScript twins. */
  readonly rules: readonly Rule[];
  /**
   * What a good manifest says that has no effect yet, a sentence each. Whoever reads its status, or runs `accord validate`, is
   * told: a field that is accepted and does nothing is a promise that fails silently. An entry goes when its field begins to act.
   */
  notes?(spec: never): string[];
  /** The chart's ClusterRole of the people who may write it. @default editor, whom the default roles of Kubernetes include */
  readonly editorRole?: string;
  /** Lists whose entries are told apart by fields: JSON Pointer of the list (as in Rule.at) and the fields. */
  readonly listKeys: readonly { readonly at: string; readonly fields: readonly string[] }[];
}

const Condition = strictObject(
  {
    type: text(
      patterns.conditionType,
      bounds.labelCharsMax,
      'Accepted: the object is valid and stored. Programmed: every live server decides with it. Ready: both.',
    ),
    status: Type.Enum(['True', 'False', 'Unknown'], { description: 'Whether the condition holds.' }),
    reason: text(patterns.reason, bounds.conditionReasonCharsMax, 'Why, as one stable word.'),
    message: Type.String({
      maxLength: bounds.conditionMessageCharsMax,
      description: 'Explanation for people; errors in Rego have line and column.',
    }),
    lastTransitionTime: Type.String({
      format: 'date-time',
      maxLength: 35,
      description: 'When the status of this condition last changed.',
    }),
    observedGeneration: Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Generation of the object that this condition is about.',
    }),
  },
  { description: 'One condition, as in other Kubernetes objects.' },
);

/** The status of every kind. It is written by the operator and never read by it as a fact. */
export const Status = strictObject(
  {
    observedGeneration: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The newest generation of the object that the operator has observed.',
      }),
    ),
    activeGeneration: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          'The generation that the servers decide with: older than observedGeneration while a newer one is refused.',
      }),
    ),
    revision: Type.Optional(
      Type.String({
        maxLength: bounds.revisionCharsMax,
        description: "The tenant's configuration revision that holds the active generation (opaque).",
      }),
    ),
    conditions: Type.Optional(
      Type.Array(Condition, { maxItems: bounds.conditionsMax, description: 'Accepted, Programmed and Ready.' }),
    ),
  },
  { description: 'The observed state. Written by the operator only.' },
);

const condition = (type: string, field: string) => `.status.conditions[?(@.type=="${type}")].${field}`;

/** A column of its own kind, between the tenant and the conditions. */
export function column(name: string, jsonPath: string, description: string, more: Partial<PrinterColumn> = {}) {
  return { name, type: 'string', jsonPath, description, priority: 0, ...more } as const satisfies PrinterColumn;
}

/**
 * The columns of `kubectl get`: the tenant (not of the kind whose name is the tenant), what the object is called in Accord,
 * whether it holds, and its age last, as Kubernetes' own kinds have it.
 * @param own what the object is called: object names cannot hold names such as user:is_owner_of:car
 */
export function columns(options: { tenant: boolean; own: readonly PrinterColumn[] }): PrinterColumn[] {
  const tenant = column('Tenant', '.spec.tenantRef.name', 'The tenant that the object belongs to.');
  return [
    ...(options.tenant ? [tenant] : []),
    ...options.own,
    column('Accepted', condition('Accepted', 'status'), 'Whether the object is valid and stored.'),
    column('Ready', condition('Ready', 'status'), 'Whether every live server decides with it.'),
    column('Reason', condition('Ready', 'reason'), 'Why it is ready or not, in one word.', { priority: 1 }),
    column('Message', condition('Ready', 'message'), 'Why it is ready or not.', { priority: 1 }),
    column('Revision', '.status.revision', "The tenant's configuration revision that holds it.", { priority: 1 }),
    column('Age', '.metadata.creationTimestamp', 'Time since the object was created.', { type: 'date' }),
  ];
}
