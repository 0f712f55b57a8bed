import { type Static, Type } from 'typebox';
import { auditKinds } from '../core/audit-kinds.ts';
import { Json, Nullable } from '../core/db/rows.ts';

/** `at` in UTC to the microsecond, as positions of pages need it. */
export const AuditRow = Type.Object({
  at: Type.String(),
  id: Type.String(),
  actor: Json<unknown>(),
  action: Type.String(),
  object_kind: Type.String(),
  object_name: Type.String(),
  revision: Nullable(Type.Integer()),
  request_id: Nullable(Type.String()),
  detail: Nullable(Json<unknown>()),
});
export type AuditRow = Static<typeof AuditRow>;

export const AuditView = Type.Object({
  id: Type.String(),
  time: Type.String({ description: 'When the change was made, to the microsecond.' }),
  actor: Type.String({ description: 'Who made it: member:EMAIL, client:ID, user:TYPE:ID, operator:MANIFEST or cli.' }),
  action: Type.String(),
  kind: Type.String({ description: 'What was changed.' }),
  name: Type.String(),
  revision: Type.Optional(Type.String({ description: 'The revision of the configuration that the change made.' })),
  requestId: Type.Optional(Type.String()),
  detail: Type.Optional(Type.Unknown()),
});
export type AuditView = Static<typeof AuditView>;

const text = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description }));

/** What entries are asked for, besides a time range. */
export const auditFilter = {
  actor: text('Only changes that exactly this actor made, as entries show it.'),
  action: text('Only entries with this action, such as put, delete or erase.'),
  kind: Type.Optional(Type.Enum([...auditKinds], { description: 'Only entries about objects of this kind.' })),
  name: text('Only entries about the object with exactly this name.'),
};
