-- Consent definitions with their versions and documents (configuration). The definition has the owner of all of it. A
-- definition whose manifest went is archived: nothing of it is active, and what users consented to can still be read.
create table accord.consent_definition (
  tenant text not null references accord.tenant on delete cascade,
  name text collate "C" not null,
  attributes jsonb not null default '{}',
  archived boolean not null default false,
  -- Null: none.
  language_fallback text check (language_fallback = 'lookup'),
  revision bigint not null,
  owner jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, name)
);
select accord.isolate('accord.consent_definition');

-- The end of life belongs to the version and changes apart from it: an update of either leaves the other.
create table accord.consent_version (
  tenant text not null,
  definition text collate "C" not null,
  version text collate "C" not null,
  attributes jsonb not null default '{}',
  start_date timestamptz(3),
  end_date timestamptz(3),
  grace_period text,
  -- The start_date and the end_date that were told: another one is to be told. Whoever is told of the end one by one, up to ended_until
  -- (an id of user_consent) was.
  told_start timestamptz(3),
  told_end timestamptz(3),
  ended_until uuid,
  revision bigint not null,
  primary key (tenant, definition, version),
  foreign key (tenant, definition) references accord.consent_definition on delete cascade,
  check (start_date < end_date),
  check (num_nonnulls(start_date, end_date, grace_period) in (0, 3))
);
create index consent_version_to_start on accord.consent_version (tenant, start_date) where told_start is distinct from start_date;
create index consent_version_to_end on accord.consent_version (tenant, end_date) where told_end is distinct from end_date;
create index consent_version_start_due on accord.consent_version (start_date, tenant) where told_start is distinct from start_date;
create index consent_version_end_due on accord.consent_version (end_date, tenant) where told_end is distinct from end_date;
select accord.isolate('accord.consent_version');

create table accord.consent_document (
  tenant text not null,
  definition text collate "C" not null,
  version text collate "C" not null,
  language text collate "C" not null,
  document text collate "C" not null,
  effective_date timestamptz(3) not null,
  attributes jsonb not null default '{}',
  -- {title, mediaType, digest?, url?, source?} as server/definitions/schema.ts has it; the body apart, because servers hold the
  -- rest in memory.
  content jsonb,
  body text,
  -- The effective_date whose event was emitted: another one is to be told.
  told_effective timestamptz(3),
  revision bigint not null,
  primary key (tenant, definition, version, language, document),
  check (body is null or content is not null),
  foreign key (tenant, definition, version) references accord.consent_version on delete cascade,
  -- Deferred: one write may exchange two dates.
  unique (tenant, definition, language, effective_date) deferrable initially deferred
);
create index consent_document_to_tell on accord.consent_document (tenant, effective_date)
  where told_effective is distinct from effective_date;
create index consent_document_due on accord.consent_document (effective_date, tenant)
  where told_effective is distinct from effective_date;
select accord.isolate('accord.consent_document');
