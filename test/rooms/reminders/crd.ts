/** Stands for crds/reminder.ts. */
import Type, { type Static } from 'typebox';
import { ownershipFields, strictObject, TenantRef, TypeName } from '../../../crds/fields.ts';
import { column, columns, type Kind, Status } from '../../../crds/kind.ts';
import type { Manifest } from '../../../crds/kinds.ts';
import { immutable } from '../../../crds/rule.ts';

const ReminderSpec = strictObject(
  {
    tenantRef: TenantRef,
    for: TypeName('Type of the actors that are reminded.'),
    text: Type.String({ minLength: 1, maxLength: 200, description: 'What they are reminded of.' }),
    sound: Type.Optional(Type.Boolean({ description: 'Whether it makes a sound.' })),
    ...ownershipFields,
  },
  { description: 'The desired state of the reminder.' },
);
type ReminderSpec = Static<typeof ReminderSpec>;

const ReminderStatus = Type.Object(
  {
    ...Status.properties,
    read: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'How many actors have read it.' }),
    ),
  },
  { additionalProperties: false, description: 'The observed state. Written by the operator only.' },
);

export const reminder = {
  kind: 'Reminder',
  plural: 'reminders',
  singular: 'reminder',
  shortNames: ['arem'],
  scope: 'Namespaced',
  description: 'A text that actors of a type are reminded of. Only tests have it.',
  specSchema: ReminderSpec,
  statusSchema: ReminderStatus,
  printerColumns: columns({ tenant: true, own: [column('For', '.spec.for', 'Type of the actors that are reminded.')] }),
  rules: [immutable('/spec/tenantRef/name', 'must not change: delete the reminder and make it in the other tenant')],
  notes: ({ sound }: ReminderSpec) => (sound ? ['spec.sound has no effect: reminders are silent.'] : []),
  editorRole: 'reminder-editor',
  listKeys: [],
} as const satisfies Kind;

/** In crds/kinds.ts, its kind would be one of those of all manifests. */
export type ReminderManifest = Manifest & { spec: ReminderSpec };
