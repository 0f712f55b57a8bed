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
  at timestamptz not null default now(),
  primary key (tenant, revision, kind, name)
);
-- Types of actors and resources that were written or removed lately: conditions of other objects are looked at again.
create index config_change_of_types on accord.config_change (at) where kind in ('actor_type', 'resource_type');
select accord.isolate('accord.config_change');

-- Values of Secrets that a Tenant refers to, encrypted under ACCORD_MASTER_KEY with the row's identity as additional data. The
-- digest is keyed too: it tells whether a Secret changed, and nothing to whoever guesses its value.
create table accord.tenant_secret (
  tenant text not null references accord.tenant on delete cascade,
  name text not null,
  digest text not null,
  encrypted bytea not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, name)
);
select accord.isolate('accord.tenant_secret');
