-- What users have consented to (records). A revoked consent is gone; that it was there is in the ledger. No foreign keys to
-- what is configured: a definition may go, and what was agreed to stays.
create table accord.user_consent (
  tenant text collate "C" not null,
  user_id text collate "C" not null,
  definition text collate "C" not null,
  version text collate "C" not null,
  document text collate "C" not null,
  language text collate "C" not null,
  id uuid not null default uuidv7(),
  given_at timestamptz(3) not null,
  -- What the tenant's application keeps as evidence, as it was sent.
  proof jsonb,
  -- Digest of the text that was agreed to, where the document had one.
  content_digest text,
  primary key (tenant, user_id, definition, version, language, document)
);
create unique index user_consent_id on accord.user_consent (tenant, id);
-- Pages of a definition, and of one of its versions: those who are left in an old one may be few among millions.
create index user_consent_definition on accord.user_consent (tenant, definition, id);
-- How many users consented to what is counted in the index.
create index user_consent_adoption on accord.user_consent (tenant, definition, version, language, user_id);
create index user_consent_version on accord.user_consent (tenant, definition, version, id);
select accord.isolate('accord.user_consent');

-- When a user was first invited away from a version: written once, never moved, and kept when the consent is revoked.
create table accord.consent_invitation (
  tenant text collate "C" not null,
  user_id text collate "C" not null,
  definition text collate "C" not null,
  version text collate "C" not null,
  invited_at timestamptz(3) not null,
  -- The last instant of the grace, for those who tell of it; decisions compute it. Null: the end of life had not begun.
  grace_ends timestamptz(3),
  told_ending boolean not null default false,
  told_expired boolean not null default false,
  primary key (tenant, user_id, definition, version)
);
create index consent_invitation_to_remind on accord.consent_invitation (tenant, grace_ends) where not told_ending;
create index consent_invitation_to_tell on accord.consent_invitation (tenant, grace_ends) where not told_expired;
create index consent_invitation_remind_due on accord.consent_invitation (grace_ends, tenant) where not told_ending;
create index consent_invitation_due on accord.consent_invitation (grace_ends, tenant) where not told_expired;
-- Tenants that remind earlier than others (server/consents/timed-store.ts).
create index tenant_reminds_early on accord.tenant (tenant) where coalesce((spec #>> '{events,graceEndingDays}')::integer, 7) > 7;
create index consent_invitation_version on accord.consent_invitation (tenant, definition, version, grace_ends);
create index consent_invitation_unplanned on accord.consent_invitation (tenant, definition, version) where grace_ends is null;
select accord.isolate('accord.consent_invitation');
revoke update on accord.consent_invitation from accord_app, accord_system;
grant update (grace_ends, told_ending, told_expired) on accord.consent_invitation to accord_app;
