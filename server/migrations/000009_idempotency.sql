-- Requests with an Idempotency-Key that were carried out: inserted in the transaction of what was done; the answer comes later,
-- and is encrypted. The other columns are keyed digests, so that nothing here tells of anybody without the master key.
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
