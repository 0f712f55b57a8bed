-- Types of actors, resources and relationships (configuration), and the actors, resources and relationships themselves
-- (records). Identifiers stand in the keys as texts: bench/relationships.ts measures that against interning them.
--
-- Records have no foreign keys to what is configured: a check for each row of an import would cost more than the row.
-- Writers hold the type's row instead (for key share), and whoever removes a type or a tenant waits for them.

create table accord.thing_type (
  tenant text not null references accord.tenant on delete cascade,
  name text collate "C" not null,
  kind text not null check (kind in ('actor', 'resource')),
  spec jsonb not null,
  revision bigint not null,
  owner jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, name)
);
select accord.isolate('accord.thing_type');

create table accord.relationship_type (
  tenant text not null references accord.tenant on delete cascade,
  from_type text collate "C" not null,
  name text collate "C" not null,
  to_type text collate "C" not null,
  spec jsonb not null,
  -- The manifest is gone and relationships are left: they hold, and no new ones are made.
  retired boolean not null default false,
  revision bigint not null,
  owner jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, from_type, name, to_type),
  -- Deferred: with a tenant go both, in an order of Postgres' own.
  foreign key (tenant, from_type) references accord.thing_type deferrable initially deferred,
  foreign key (tenant, to_type) references accord.thing_type deferrable initially deferred
);
create index relationship_type_to on accord.relationship_type (tenant, to_type);
select accord.isolate('accord.relationship_type');

-- Actors and resources that have been registered. One need not be, to have relationships.
create table accord.thing (
  tenant text collate "C" not null,
  type text collate "C" not null,
  id text collate "C" not null,
  attributes jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (tenant, type, id)
);
select accord.isolate('accord.thing');

create table accord.relationship (
  tenant text collate "C" not null,
  from_type text collate "C" not null,
  from_id text collate "C" not null,
  name text collate "C" not null,
  to_type text collate "C" not null,
  to_id text collate "C" not null,
  -- It holds before this instant and not at it.
  expires_at timestamptz(3),
  created_at timestamptz not null default now(),
  primary key (tenant, from_type, from_id, name, to_type, to_id)
);
create index relationship_to on accord.relationship (tenant, to_type, to_id, name, from_type, from_id);
select accord.isolate('accord.relationship');

-- How far an import has come: written with each batch, so that it goes on after the last line that is in.
create table accord.relationship_import (
  tenant text not null references accord.tenant on delete cascade,
  id text collate "C" not null,
  lines bigint not null default 0,
  created bigint not null default 0,
  updated bigint not null default 0,
  unchanged bigint not null default 0,
  refused bigint not null default 0,
  errors jsonb not null default '[]',
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (tenant, id)
);
select accord.isolate('accord.relationship_import');
