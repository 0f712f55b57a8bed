/** How entries are shown, and to whom how much, pure. */
import { shownName } from '../core/auth/mask.ts';
import type { Role } from '../core/auth/schema.ts';
import { UUID } from '../core/uuid.ts';
import { csvLine } from '../http/csv.ts';
import type { AuditRow, AuditView } from './schema.ts';

/** Kinds whose names are configuration, never a person's. */
const namedByConfiguration = new Set([
  ...['tenant', 'policy', 'policy_library', 'policy_data', 'trusted_issuer', 'token_mapping', 'client', 'key', 'route'],
  ...['actor_type', 'resource_type', 'relationship_type', 'consent_definition', 'consent_version', 'consent_document'],
]);

/** Support sees what was changed and when; of whom it names, only the kind. */
export function auditView(row: AuditRow, role: Role): AuditView {
  const masked = role === 'support';
  const actor = typeof row.actor === 'string' ? row.actor : JSON.stringify(row.actor);
  const isShown = !masked || namedByConfiguration.has(row.object_kind) || UUID.test(row.object_name);
  return {
    id: row.id,
    time: row.at,
    actor: shownName(role, actor),
    action: row.action,
    kind: row.object_kind,
    name: isShown ? row.object_name : '***',
    ...(row.revision === null ? {} : { revision: `c${row.revision}` }),
    ...(row.request_id === null ? {} : { requestId: row.request_id }),
    ...(row.detail === null || masked ? {} : { detail: row.detail }),
  };
}

export const auditCsvHeader = csvLine([
  ...['id', 'time', 'actor', 'action', 'kind', 'name', 'revision', 'requestId', 'detail'],
]);

export function auditCsvLine(entry: AuditView): string {
  const { id, time, actor, action, kind, name, revision, requestId, detail } = entry;
  return csvLine([
    ...[id, time, actor, action, kind, name, revision, requestId],
    detail === undefined ? undefined : JSON.stringify(detail),
  ]);
}
