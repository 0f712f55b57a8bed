-- The decision log.
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
select accord.ensure_partitions(3);
