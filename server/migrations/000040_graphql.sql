-- What members read by GraphQL: views in a schema of their own, and a role for each role of members, which reads nothing else.
--
-- The views are security_invoker: who reads one needs a grant on the columns behind it, and row-level security binds it as it
-- binds everybody (of_tenant is for PUBLIC). So Postgres itself refuses what is not in a view: secrets, addresses, salts.
-- A transaction takes such a role by `set role`; nobody inherits one (server/core/db/database.ts, reader()).
do $$
declare
  reader text;
begin
  foreach reader in array array['accord_reader_admin', 'accord_reader_editor', 'accord_reader_viewer', 'accord_reader_support'] loop
    begin
      if not exists (select from pg_roles where rolname = reader) then
        execute format('create role %I nologin nosuperuser nobypassrls', reader);
      end if;
    exception when duplicate_object or unique_violation then null;
    end;
  end loop;
end $$;

create schema graphql;
grant usage on schema graphql, accord to accord_reader_admin, accord_reader_editor, accord_reader_viewer, accord_reader_support;

-- Support sees what happened, not to whom, as in the Config API (server/core/auth/mask.ts, authz/decision-view.ts, audit/view.ts).
create function accord.reads_masked() returns boolean language sql stable
set search_path = pg_catalog
return current_user = 'accord_reader_support';

create function accord.shown_name(name text) returns text language sql stable
set search_path = pg_catalog
return case
  when current_user <> 'accord_reader_support' or name in ('cli', 'accord') or split_part(name, ':', 1) = 'operator' then name
  when split_part(name, ':', 1) = 'user' then 'user:' || split_part(name, ':', 2) || ':***'
  else split_part(name, ':', 1) || ':***'
end;
revoke execute on function accord.reads_masked(), accord.shown_name(text) from public;
grant execute on function accord.reads_masked(), accord.shown_name(text)
  to accord_reader_admin, accord_reader_editor, accord_reader_viewer, accord_reader_support;

-- Lets roles read a view, and the columns of the table behind it. @param filters what may be asked for: an index carries each
create procedure graphql.expose(view text, behind text, readers text, filters text) language plpgsql as $$
declare
  one text;
begin
  execute format('grant select on graphql.%I to %s', view, readers);
  execute format('grant select (%s) on accord.%I to %s', (
    select string_agg(distinct format('%I', a.attname), ', ') from pg_depend d
    join pg_rewrite r on r.oid = d.objid and d.classid = 'pg_rewrite'::regclass
    join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where r.ev_class = format('graphql.%I', view)::regclass and d.refobjid = format('accord.%I', behind)::regclass and a.attnum > 0
  ) || ', tenant', behind, readers);
  foreach one in array string_to_array(filters, ', ') loop
    execute format('comment on column graphql.%I.%I is %L', view, one, '@behavior +filterBy');
  end loop;
end $$;

-- Configuration.
create view graphql.policy with (security_invoker) as
  select name, number as revision, graph is not null as drawn, effective_rego, graph,
    -- As describeOwner of core/ownership.ts says it: api, or the manifest that owns it.
    (owner ->> 'source') || coalesce(' ' || coalesce(nullif(owner ->> 'namespace', '') || '/', '') || (owner ->> 'name'), '') as managed_by,
    updated_at, accord.shown_name(updated_by) as updated_by
  from accord.policy;
comment on view graphql.policy is E'@primaryKey name\nThe policies as they are now.';
call graphql.expose('policy', 'policy', 'accord_reader_admin, accord_reader_editor, accord_reader_viewer, accord_reader_support', 'name');

create view graphql.policy_revision with (security_invoker) as
  select name as policy, number as revision, action, effective_rego, graph, updated_at, accord.shown_name(updated_by) as updated_by
  from accord.policy_revision;
comment on view graphql.policy_revision is
  E'@primaryKey policy,revision\n@foreignKey (policy) references graphql.policy (name)|@fieldName policyNow|@foreignFieldName revisions\nThe policies as they were.';
call graphql.expose('policy_revision', 'policy_revision',
  'accord_reader_admin, accord_reader_editor, accord_reader_viewer, accord_reader_support', 'policy, revision');

create view graphql.config_change with (security_invoker) as
  select revision, kind, name from accord.config_change;
comment on view graphql.config_change is E'@primaryKey revision,kind,name\nWhat each revision of the configuration changed.';
call graphql.expose('config_change', 'config_change', 'accord_reader_admin, accord_reader_editor, accord_reader_viewer', 'revision');

-- Records.
create view graphql.thing with (security_invoker) as
  select type, id, attributes, updated_at from accord.entity;
comment on view graphql.thing is E'@primaryKey type,id\nActors and resources with attributes.';
call graphql.expose('thing', 'entity', 'accord_reader_admin, accord_reader_editor', 'type, id');

create view graphql.relationship with (security_invoker) as
  select from_type, from_id, name as relationship, to_type, to_id, expires_at, created_at from accord.relationship;
comment on view graphql.relationship is
  E'@primaryKey from_type,from_id,relationship,to_type,to_id\n@foreignKey (from_type,from_id) references graphql.thing (type,id)|@fieldName fromThing|@foreignFieldName relationshipsFrom\n@foreignKey (to_type,to_id) references graphql.thing (type,id)|@fieldName toThing|@foreignFieldName relationshipsTo\nWho is related to what; those that have expired are here until they are swept.';
call graphql.expose('relationship', 'relationship', 'accord_reader_admin, accord_reader_editor',
  'from_type, from_id, relationship, to_type, to_id');

create view graphql.invitation with (security_invoker) as
  select id, case when status = 'pending' and expires_at <= now() then 'expired' else status end as status,
    status as recorded_status, from_type,
    name as relationship, to_type, direction, target_type, target_id, invitor_type, invitor_id, by_tenant, contact_type,
    contact_mask, language, delivery, deliveries, delivered_at, max_uses, uses, expires_at, relationship_expires_at, created_at,
    ended_at
  from accord.invitation;
comment on view graphql.invitation is E'@primaryKey id\nInvitations to share; of the contact there is a mask only.';
call graphql.expose('invitation', 'invitation', 'accord_reader_admin, accord_reader_editor',
  'target_type, target_id, invitor_type, invitor_id, recorded_status');

create view graphql.consent with (security_invoker) as
  select id, user_id, definition, version, document, language, given_at from accord.user_consent;
comment on view graphql.consent is E'@primaryKey id\nConsents that users gave.';
call graphql.expose('consent', 'user_consent', 'accord_reader_admin, accord_reader_editor', 'user_id, definition, version');

create view graphql.ledger_entry with (security_invoker) as
  select time, id, sequence, type, name as definition, version, document_version, document_language, outcome, request_id,
    client_id, actor_type, actor_id, user_id, reason, encode(hash, 'hex') as hash
  from accord.ledger_entry;
comment on view graphql.ledger_entry is E'@primaryKey time,id\nThe ledger of consents.';
call graphql.expose('ledger_entry', 'ledger_entry', 'accord_reader_admin, accord_reader_editor', 'time, user_id, sequence');

create view graphql.event with (security_invoker) as
  select sequence, time, id, type from accord.event;
comment on view graphql.event is E'@primaryKey sequence\nWhat happened, without the bodies.';
call graphql.expose('event', 'event', 'accord_reader_admin, accord_reader_editor', 'sequence');

create view graphql.mail_message with (security_invoker) as
  select id, template, language, transactional, case when accord.reads_masked() then '***' else recipient_mask end as recipient_mask, status, reason, attempts, next_at, created_at, expires_at, settled_at
  from accord.mail_message;
comment on view graphql.mail_message is E'@primaryKey created_at,id\nMails, with masks of their recipients.';
call graphql.expose('mail_message', 'mail_message', 'accord_reader_admin, accord_reader_editor, accord_reader_support', 'created_at, id');

create view graphql.mail_suppression with (security_invoker) as
  select recipient_digest as key,
    case when accord.reads_masked() and recipient_mask is not null then '***' else recipient_mask end as recipient_mask, reason, at from accord.mail_suppression;
comment on view graphql.mail_suppression is E'@primaryKey key\nAddresses that get no mail, masked.';
call graphql.expose('mail_suppression', 'mail_suppression', 'accord_reader_admin, accord_reader_editor, accord_reader_support', 'key');

-- Endpoints that events are sent to: their configuration without secrets, how they fare, and what was sent.
create view graphql.subscription with (security_invoker) as
  select id as name, enabled, spec ->> 'endpoint' as endpoint, spec -> 'eventTypes' as event_types, owner ->> 'source' as managed_by, revision,
    created_at, updated_at, accord.shown_name(updated_by) as updated_by
  from accord.event_subscription;
comment on view graphql.subscription is E'@primaryKey name\nEndpoints that events are sent to.';
call graphql.expose('subscription', 'event_subscription',
  'accord_reader_admin, accord_reader_editor, accord_reader_viewer, accord_reader_support', 'name');

create view graphql.subscription_state with (security_invoker) as
  select subscription, cursor as sent_through, cursor_at as sent_through_at, failing_since, failures, blocked_until, disabled_at, disabled_reason
  from accord.event_lane;
comment on view graphql.subscription_state is
  E'@primaryKey subscription\n@foreignKey (subscription) references graphql.subscription (name)|@fieldName ofSubscription|@foreignFieldName state\nHow far an endpoint has got the events, and whether it fails.';
call graphql.expose('subscription_state', 'event_lane', 'accord_reader_admin, accord_reader_editor, accord_reader_support', 'subscription');

create view graphql.delivery_attempt with (security_invoker) as
  select subscription, sequence, number, at, ms, status, kind = 'r' as replayed,
    case when accord.reads_masked() then null else error end as error, case when accord.reads_masked() then null else answer end as answer
  from accord.delivery_attempt;
comment on view graphql.delivery_attempt is
  E'@primaryKey subscription,sequence,number,at\nWhat was sent to an endpoint, and what it answered.';
call graphql.expose('delivery_attempt', 'delivery_attempt', 'accord_reader_admin, accord_reader_editor, accord_reader_support',
  'subscription, sequence');

-- Records that support reads, too.
create view graphql.decision with (security_invoker) as
  select at, id, case when accord.reads_masked() and policy_number is null and action is not null then '***' else action end as action,
    case when accord.reads_masked() and answer ->> 'outcome' not in ('allow', 'deny') then '***' else answer ->> 'outcome' end as outcome,
    case when accord.reads_masked() then null else answer ->> 'reason' end as reason,
    accord.shown_name(caller) as caller,
    case when accord.reads_masked() then null else request #>> '{subject,type}' end as subject_type,
    case when accord.reads_masked() then null else request #>> '{subject,id}' end as subject_id,
    case when accord.reads_masked() then null else request #>> '{resource,type}' end as resource_type,
    case when accord.reads_masked() then null else request #>> '{resource,id}' end as resource_id,
    policy_number as policy_revision, revision, duration_us, request_id
  from accord.decision;
comment on view graphql.decision is E'@primaryKey at,id\nThe decision log.';
call graphql.expose('decision', 'decision', 'accord_reader_admin, accord_reader_editor, accord_reader_support', 'at');

create view graphql.audit_entry with (security_invoker) as
  select at, id,
    accord.shown_name(case jsonb_typeof(actor) when 'string' then actor #>> '{}' else actor::text end) as actor,
    action, object_kind as kind,
    case when accord.reads_masked() and object_kind <> all (array['tenant', 'policy', 'policy_library', 'policy_data', 'trusted_issuer',
        'token_mapping', 'client', 'key', 'route', 'actor_type', 'resource_type', 'relationship_type', 'consent_definition',
        'consent_version', 'consent_document'])
      and object_name !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then '***' else object_name end as name,
    revision, request_id
  from accord.audit_entry;
comment on view graphql.audit_entry is E'@primaryKey at,id\nWho changed what.';
call graphql.expose('audit_entry', 'audit_entry', 'accord_reader_admin, accord_reader_support', 'at');

create view graphql.member with (security_invoker) as
  select id, email, role, created_at from accord.member;
comment on view graphql.member is E'@primaryKey id\nThe people who administer the tenant.';
call graphql.expose('member', 'member', 'accord_reader_admin', 'role');

drop procedure graphql.expose(text, text, text, text);
