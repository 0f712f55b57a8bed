-- Actors, resources and relationships (records). Identifiers stand in the keys as texts: bench/relationships.ts measures that against interning them.
--
-- Records have no foreign keys to what is configured: a check for each row of an import would cost more than the row.
-- Writers hold the type's row instead (for key share), and whoever removes a type or a tenant waits for them.

-- Actors and resources that have been registered. One need not be, to have relationships.
create table accord.entity (
  tenant text collate "C" not null,
  type text collate "C" not null,
  id text collate "C" not null,
  attributes jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (tenant, type, id)
);
select accord.isolate('accord.entity');

-- The hash of a relationship type, because an index of the texts costs each row of an import more. Without a search_path of its own, so
-- that Postgres inlines it; its body was resolved when it was made.
create function accord.relationship_type_hash(tenant text, from_type text, name text, to_type text) returns bigint
language sql immutable parallel safe
return hashtextextended(tenant, hashtextextended(from_type, hashtextextended(name, hashtextextended(to_type, 0))));
revoke execute on function accord.relationship_type_hash(text, text, text, text) from public;
grant execute on function accord.relationship_type_hash(text, text, text, text) to accord_app, accord_system;

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
  -- The expires_at whose event was emitted: another one is to be told again.
  told_expiry timestamptz(3),
  -- A column, not an expression of the index: under row-level security Postgres looks up no expression of functions that may leak.
  type_hash bigint not null generated always as (accord.relationship_type_hash(tenant, from_type, name, to_type)) stored,
  primary key (tenant, from_type, from_id, name, to_type, to_id)
);
create index relationship_to_tell on accord.relationship (tenant, expires_at) where told_expiry is distinct from expires_at;
create index relationship_due on accord.relationship (expires_at, tenant) where told_expiry is distinct from expires_at;
create index relationship_to on accord.relationship (tenant, to_type, to_id, name, from_type, from_id);
-- Whether a type is in use is read from one entry, the one that expires last; nulls never expire.
create index relationship_of_type on accord.relationship (type_hash, expires_at);
select accord.isolate('accord.relationship');

-- How many relationships a tenant has is the sum of these. A statement that makes or removes some adds one row, so that no
-- writer waits for another; one statement in 256 replaces the rows that it finds by their sum.
create table accord.relationship_change (
  tenant text collate "C" not null,
  id bigint generated always as identity,
  change bigint not null,
  primary key (tenant, id)
);
select accord.isolate('accord.relationship_change');

create function accord.count_relationships() returns trigger language plpgsql set search_path = pg_catalog as $$
declare
  of_tenant text;
begin
  insert into accord.relationship_change (tenant, change)
    select tenant, case tg_op when 'INSERT' then count(*) else -count(*) end from changed group by tenant;
  if random() < 1.0 / 256 then
    for of_tenant in select distinct tenant from changed loop
      with folded as (delete from accord.relationship_change where tenant = of_tenant and id in
          (select id from accord.relationship_change where tenant = of_tenant order by id limit 4096 for update skip locked)
        returning change)
      insert into accord.relationship_change (tenant, change) select of_tenant, sum(change) from folded having count(*) > 0;
    end loop;
  end if;
  return null;
end $$;
revoke execute on function accord.count_relationships() from public;
create trigger relationship_made after insert on accord.relationship
  referencing new table as changed for each statement execute function accord.count_relationships();
create trigger relationship_removed after delete on accord.relationship
  referencing old table as changed for each statement execute function accord.count_relationships();

-- How far an import has come: written with each batch, so that it goes on after the last line that is in.
create table accord.relationship_import (
  tenant text not null references accord.tenant on delete cascade,
  id text collate "C" not null,
  lines bigint not null default 0,
  created bigint not null default 0,
  updated bigint not null default 0,
  unchanged bigint not null default 0,
  refused bigint not null default 0,
  -- Chained over the lines that are dealt with: whoever sends lines again has to send the same.
  digest text not null default '',
  errors jsonb not null default '[]',
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (tenant, id)
);
select accord.isolate('accord.relationship_import');

-- After a large import the planner knows nothing of the new rows until autovacuum comes by, up to minutes later, and may choose an
-- index for walks that it reads to the end for each step. Analyzes where at least so many percent of the table were created, as
-- autovacuum does. Whoever imports has neither the table nor the right to maintain it.
create function accord.analyze_relationships(created bigint, percent integer) returns boolean
language plpgsql security definer set search_path = pg_catalog as $$
begin
  if created * 100 < percent * (select greatest(reltuples, 0) from pg_class where oid = 'accord.relationship'::regclass) then
    return false;
  end if;
  -- Not behind a vacuum, which analyzes too or is followed by it.
  analyze (skip_locked) accord.relationship;
  return true;
end $$;
revoke execute on function accord.analyze_relationships(bigint, integer) from public;
grant execute on function accord.analyze_relationships(bigint, integer) to accord_app;
