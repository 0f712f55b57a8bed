-- The decision log.
create table accord.decision (
  tenant text not null,
  -- To the millisecond, as it is read: a place in the log that was read is behind its row.
  at timestamptz(3) not null,
  id uuid not null default uuidv7(),
  caller text not null,
  action text,
  request jsonb not null,
  answer jsonb not null,
  policy_number bigint,
  -- Revisions of the data documents that the policy read, by path.
  documents jsonb,
  -- Revisions of the libraries that it was compiled with, by package.
  libraries jsonb,
  revision bigint not null,
  duration_us integer not null,
  request_id text,
  -- What is searched for may be longer than an index takes: its hash is in the index, and the row is compared itself. The hashes are
  -- columns, because an index on an expression is not used under row-level security where a function of it is not leakproof.
  action_hash bigint generated always as (hashtextextended(action, 0)) stored,
  subject_hash bigint generated always as (hashtextextended(request #>> '{subject,id}', 0)) stored,
  resource_hash bigint generated always as (hashtextextended(request #>> '{resource,id}', 0)) stored,
  reason_hash bigint generated always as (hashtextextended(answer ->> 'reason', 0)) stored,
  primary key (tenant, at, id)
) partition by range (at);
create index on accord.decision (tenant, id);
create index on accord.decision (tenant, action_hash, at, id);
create index on accord.decision (tenant, action_hash, policy_number, at, id) where policy_number is not null;
create index on accord.decision (tenant, subject_hash, at, id) where subject_hash is not null;
create index on accord.decision (tenant, resource_hash, at, id) where resource_hash is not null;
create index on accord.decision (tenant, reason_hash, at, id) where reason_hash is not null;
select accord.isolate('accord.decision');
create table accord.decision_rest partition of accord.decision default;
select accord.ensure_partitions(3);
