--! breaking-change
-- The first schema: tenants, policies, trusted issuers, keys, members, audit, decisions, servers, resources.
--
-- Two group roles, made once a cluster. accord_app is what every transaction runs as; row-level security shows it the
-- rows of the tenant in accord.tenant and nothing while that is unset. accord_system is the one role that sees all
-- tenants; a transaction takes it by `set local role` (server/core/db/database.ts, system()).
do $$
begin
  if not exists (select from pg_roles where rolname = 'accord_app') then
    create role accord_app nologin nosuperuser nobypassrls;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$
begin
  if not exists (select from pg_roles where rolname = 'accord_system') then
    create role accord_system nologin nosuperuser nobypassrls;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;

grant usage on schema accord to accord_app, accord_system;

-- Binds a table to the tenant of the transaction, also for the table's owner.
create function accord.isolate(target regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format(
    'create policy of_tenant on %s using (tenant = current_setting(''accord.tenant'', true))'
    ' with check (tenant = current_setting(''accord.tenant'', true))', target);
  execute format('create policy across_tenants on %s to accord_system using (true) with check (true)', target);
  execute format('grant select, insert, update, delete on %s to accord_app, accord_system', target);
end $$;

-- A table without tenants' data, for accord_system only.
create function accord.reserve(target regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy system_only on %s to accord_system using (true) with check (true)', target);
  execute format('grant select, insert, update, delete on %s to accord_system', target);
end $$;

-- Every configuration row has one owner: {source: kubernetes|files|api, namespace, name, uid}.
create table accord.tenant (
  tenant text primary key check (tenant ~ '^[a-z][a-z0-9-]{1,39}$'),
  state text not null default 'active' check (state in ('active', 'disabled')),
  spec jsonb not null,
  revision bigint not null default 0,
  owner jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  updated_by text not null
);
select accord.isolate('accord.tenant');

-- What each revision of a tenant changed: a server that is behind reads only that.
create table accord.config_change (
  tenant text not null references accord.tenant on delete cascade,
  revision bigint not null,
  kind text not null,
  name text not null,
  primary key (tenant, revision, kind, name)
);
select accord.isolate('accord.config_change');

create table accord.policy (
  tenant text not null references accord.tenant on delete cascade,
  name text not null check (length(name) between 1 and 253),
  number bigint not null,
  rego text,
  graph jsonb,
  effective_rego text not null,
  artifact text not null,
  reads jsonb not null,
  revision bigint not null,
  owner jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, name)
);
select accord.isolate('accord.policy');

-- The history of a policy name; it outlives the policy, and numbers go on when the name is used again.
create table accord.policy_revision (
  tenant text not null references accord.tenant on delete cascade,
  name text not null,
  number bigint not null,
  action text not null check (action in ('put', 'delete', 'restore', 'adopt')),
  rego text,
  graph jsonb,
  effective_rego text,
  artifact text,
  revision bigint not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, name, number)
);
select accord.isolate('accord.policy_revision');

-- Compiled policies by the digest of (source, compiler, builtins). Content-addressed, so that a policy that comes back is not compiled again.
create table accord.policy_artifact (
  tenant text not null references accord.tenant on delete cascade,
  digest text not null,
  wasm bytea not null,
  about jsonb not null,
  created_at timestamptz not null default now(),
  primary key (tenant, digest)
);
alter table accord.policy_artifact alter column wasm set storage external;
select accord.isolate('accord.policy_artifact');

create table accord.trusted_issuer (
  tenant text not null references accord.tenant on delete cascade,
  name text not null,
  spec jsonb not null,
  revision bigint not null,
  owner jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, name)
);
create unique index trusted_issuer_issuer on accord.trusted_issuer (tenant, (spec ->> 'issuer'));
select accord.isolate('accord.trusted_issuer');

-- Private keys are sealed under ACCORD_MASTER_KEY (AES-256-GCM, the row's identity as additional data).
create table accord.signing_key (
  tenant text not null references accord.tenant on delete cascade,
  kid text not null,
  purpose text not null check (purpose in ('access', 'invitation', 'receipt', 'checkpoint')),
  algorithm text not null check (algorithm in ('ES256', 'RS256')),
  public_jwk jsonb not null,
  private_key bytea not null,
  created_at timestamptz not null default now(),
  retires_at timestamptz,
  primary key (tenant, kid)
);
-- One key of a purpose signs; the others only verify what they signed.
create unique index signing_key_in_use on accord.signing_key (tenant, purpose) where retires_at is null;
select accord.isolate('accord.signing_key');

-- Servers hold public keys in memory. Keys come with what they first sign, without a revision of the tenant.
create function accord.tell_of_key() returns trigger language plpgsql as $$
begin
  perform pg_notify('accord_keys', coalesce(new.tenant, old.tenant));
  return null;
end $$;
create trigger tell after insert or update or delete on accord.signing_key
  for each row execute function accord.tell_of_key();

create table accord.installation_key (
  kid text primary key,
  purpose text not null check (purpose in ('portal')),
  algorithm text not null check (algorithm in ('ES256')),
  public_jwk jsonb not null,
  private_key bytea not null,
  created_at timestamptz not null default now(),
  retires_at timestamptz
);
create unique index installation_key_in_use on accord.installation_key (purpose) where retires_at is null;
select accord.reserve('accord.installation_key');

create table accord.member (
  tenant text not null references accord.tenant on delete cascade,
  id uuid not null default uuidv7(),
  email text not null,
  role text not null check (role in ('security-admin', 'config-editor', 'config-viewer', 'support')),
  created_at timestamptz not null default now(),
  primary key (tenant, id),
  unique (tenant, email)
);
select accord.isolate('accord.member');

create table accord.portal_token (
  tenant text not null references accord.tenant on delete cascade,
  jti uuid not null,
  member uuid not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (tenant, jti),
  foreign key (tenant, member) references accord.member on delete cascade
);
select accord.isolate('accord.portal_token');

create table accord.audit_entry (
  tenant text not null,
  at timestamptz not null default now(),
  id uuid not null default uuidv7(),
  actor jsonb not null,
  action text not null,
  object_kind text not null,
  object_name text not null,
  revision bigint,
  request_id text,
  detail jsonb,
  primary key (tenant, at, id)
) partition by range (at);
select accord.isolate('accord.audit_entry');
create table accord.audit_entry_rest partition of accord.audit_entry default;

create table accord.decision (
  tenant text not null,
  at timestamptz not null,
  id uuid not null default uuidv7(),
  caller text not null,
  action text,
  request jsonb not null,
  answer jsonb not null,
  policy_number bigint,
  revision bigint not null,
  duration_us integer not null,
  request_id text,
  primary key (tenant, at, id)
) partition by range (at);
select accord.isolate('accord.decision');
create table accord.decision_rest partition of accord.decision default;

-- Makes the partitions of this month and the next ones; run at every start and daily, by any role.
-- The default partitions catch what no month holds, so that a missed run never refuses a write.
create function accord.ensure_partitions(months_ahead integer) returns void
language plpgsql security definer set search_path = pg_catalog as $$
declare
  parent text;
  first date;
begin
  perform pg_advisory_xact_lock(hashtextextended('accord.partitions', 0));
  foreach parent in array array['audit_entry', 'decision'] loop
    for month in 0 .. least(months_ahead, 12) loop
      first := (date_trunc('month', now() at time zone 'UTC') + make_interval(months => month))::date;
      if to_regclass(format('accord.%I', parent || to_char(first, '"_"YYYY_MM'))) is null then
        execute format('create table accord.%I partition of accord.%I for values from (%L) to (%L)',
          parent || to_char(first, '"_"YYYY_MM'), parent,
          first::timestamp at time zone 'UTC', (first + interval '1 month') at time zone 'UTC');
      end if;
    end loop;
  end loop;
end $$;
revoke all on function accord.ensure_partitions(integer) from public;
grant execute on function accord.ensure_partitions(integer) to accord_app, accord_system;
select accord.ensure_partitions(3);

-- Servers and the revisions that they serve: Programmed and finalizers wait for the live ones.
create table accord.server (
  id uuid primary key,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
select accord.reserve('accord.server');

create table accord.server_revision (
  server uuid not null references accord.server on delete cascade,
  tenant text not null,
  revision bigint not null,
  primary key (server, tenant)
);
select accord.reserve('accord.server_revision');

-- What each server found when it last read the keys of a trusted issuer; the operator shows it as a condition. A finding is
-- about the URLs that it names: when the issuer's are others, it says nothing any more.
create table accord.issuer_keys (
  server uuid not null references accord.server on delete cascade,
  tenant text not null,
  name text not null,
  issuer text not null,
  jwks_uri text not null,
  -- Null: there are keys.
  error text,
  checked_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  primary key (server, tenant, name),
  foreign key (tenant, name) references accord.trusted_issuer on delete cascade
);
create index issuer_keys_of_issuer on accord.issuer_keys (tenant, name);
create index issuer_keys_changed on accord.issuer_keys (changed_at);
select accord.isolate('accord.issuer_keys');

-- What the operator knows of each manifest; in file mode this is the manifest's status.
create table accord.resource (
  source text not null,
  kind text not null,
  namespace text not null default '',
  name text not null,
  uid text not null,
  tenant text not null default '',
  -- Name of the tenant's object that the manifest owns; empty while it owns none.
  object text not null default '',
  generation bigint not null,
  spec_digest text not null,
  status jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (source, kind, namespace, name)
);
select accord.isolate('accord.resource');
create index resource_of_tenant on accord.resource (tenant, kind, name);

-- Requests with an Idempotency-Key that were carried out: inserted in the transaction of what was done; the answer comes later,
-- and is sealed. The other columns are keyed digests, so that nothing here tells of anybody without the master key.
create table accord.idempotency_key (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  caller text collate "C" not null,
  id text collate "C" not null,
  request text not null,
  created_at timestamptz(3) not null,
  answer bytea,
  primary key (tenant, caller, id)
);
create index idempotency_key_answered on accord.idempotency_key (tenant, caller, id) where answer is not null; -- for erasing a person
create index idempotency_key_created on accord.idempotency_key (created_at);
select accord.isolate('accord.idempotency_key');

revoke execute on function accord.isolate(regclass), accord.reserve(regclass) from public;
