-- One entry for each change of configuration.
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
  -- Whom the entry is about: names of relationships begin with the actor's, `user/alice is_owner_of car/1`. And who did it. Hashed,
  -- because names may be long; as columns, because row-level security keeps an index on such an expression from being used.
  about_hash bigint generated always as (hashtextextended(split_part(object_name, ' ', 1), 0)) stored,
  by_hash bigint generated always as (hashtextextended(actor #>> '{}', 0)) stored,
  primary key (tenant, at, id)
) partition by range (at);
select accord.isolate('accord.audit_entry');
create index audit_entry_about on accord.audit_entry (tenant, about_hash, at, id);
create index audit_entry_by on accord.audit_entry (tenant, by_hash, at, id);
create table accord.audit_entry_rest partition of accord.audit_entry default;
select accord.ensure_partitions(3);
