/** What the statements of this room make of a row of each log: the member `data`, which view.ts shows a part of. */
import { sql } from '../core/db/sql.ts';

/** `subject` is read to tell whose it is (erased.ts), and not shown. */
export const decisionData = sql`jsonb_build_object('what', answer ->> 'outcome', 'outcome', answer ->> 'outcome',
  'reason', answer ->> 'reason', 'action', action, 'byPolicy', policy_number is not null,
  'subject', jsonb_build_object('type', request #>> '{subject,type}', 'id', request #>> '{subject,id}'),
  'resource', jsonb_build_object('type', request #>> '{resource,type}', 'id', request #>> '{resource,id}'),
  'by', caller, 'requestId', request_id) as data`;

export const auditData = sql`jsonb_build_object('what', action, 'objectKind', object_kind, 'name', object_name, 'by', actor #>> '{}',
  'requestId', request_id) as data`;

export const consentData = sql`jsonb_build_object('what', type, 'name', name, 'version', version,
  'document', jsonb_build_object('version', document_version, 'language', document_language), 'outcome', outcome,
  'requestId', request_id, 'reason', reason, 'by', actor_type || '/' || actor_id) as data`;

/** Of accord.invitation i. */
export const invitationData = (what: 'invited' | 'accepted') => sql`jsonb_build_object('what', ${what}::text,
  'invitationId', i.id, 'relationshipType', i.name, 'to', jsonb_build_object('type', i.target_type, 'id', i.target_id),
  'from', jsonb_build_object('type', i.invitor_type, 'id', i.invitor_id), 'contact', i.contact_mask, 'expiresAt', i.expires_at,
  'status', case when i.status = 'pending' and i.expires_at <= now() then 'expired' else i.status end) as data`;

export const mailData = sql`jsonb_build_object('what', status, 'status', status, 'template', template,
  'contact', recipient_mask, 'reason', reason) as data`;
