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
  primary key (tenant, at, id)
) partition by range (at);
select accord.isolate('accord.audit_entry');
create table accord.audit_entry_rest partition of accord.audit_entry default;
select accord.ensure_partitions(3);
