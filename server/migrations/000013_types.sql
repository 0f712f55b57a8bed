-- Types of actors, resources and relationships (configuration).
create table accord.entity_type (
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
select accord.isolate('accord.entity_type');

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
  foreign key (tenant, from_type) references accord.entity_type deferrable initially deferred,
  foreign key (tenant, to_type) references accord.entity_type deferrable initially deferred
);
create index relationship_type_to on accord.relationship_type (tenant, to_type);
select accord.isolate('accord.relationship_type');
