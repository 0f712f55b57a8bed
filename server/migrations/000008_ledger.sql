-- The ledger of consents: what was requested and done, append-only, sealed into one hash chain a tenant.
--
-- An entry is written to ledger_inbox, in the transaction of what it tells of. Sealing moves committed entries to
-- ledger_entry, each with the next number and the chain's hash, and adds a signed checkpoint. What requests run as
-- (accord_app) writes new entries and wipes personal fields; it changes and removes nothing else.
create table accord.ledger_inbox (
  tenant text collate "C" not null,
  time timestamptz(3) not null,
  id uuid not null default uuidv7(),
  type text not null
    check (type in ('read', 'invited', 'registered', 'revoked', 'refused', 'exported', 'erased', 'denied')),
  name text,
  version text,
  document_version text,
  document_language text,
  content_digest text,
  outcome text not null,
  request_id text not null,
  client_id text,
  -- SHA-256 over salt and the personal fields; it stays when they are wiped, and says nothing without the salt.
  personal_digest bytea not null check (length(personal_digest) = 32),
  salt bytea check (length(salt) = 16),
  actor_type text collate "C",
  actor_id text collate "C",
  user_id text collate "C",
  -- Why a member acted for the user, in its words; personal, because they may name somebody.
  reason text,
  primary key (tenant, time, id)
);
select accord.isolate('accord.ledger_inbox');

create table accord.ledger_entry (
  like accord.ledger_inbox,
  sequence bigint not null check (sequence > 0),
  -- SHA-256 over the entry before it and this one.
  hash bytea not null check (length(hash) = 32),
  primary key (tenant, time, id)
) partition by range (time);
select accord.isolate('accord.ledger_entry');
create table accord.ledger_entry_rest partition of accord.ledger_entry default;
create index ledger_entry_sequence on accord.ledger_entry (tenant, sequence);
create index ledger_entry_user on accord.ledger_entry (tenant, user_id, time, id);
create index ledger_entry_name on accord.ledger_entry (tenant, name, time, id) where name is not null;
-- Whoever acted on another's consents: erasing has to find them too.
create index ledger_entry_actor on accord.ledger_entry (tenant, actor_id) where actor_id is distinct from user_id;

-- One a seal: the chain's hash at its last entry, and the same signed by the tenant's checkpoint key (a compact JWS).
create table accord.ledger_checkpoint (
  tenant text collate "C" not null,
  last bigint not null check (last >= first),
  first bigint not null check (first > 0),
  hash bytea not null check (length(hash) = 32),
  time timestamptz(3) not null,
  signed text not null,
  primary key (tenant, last)
);
select accord.isolate('accord.ledger_checkpoint');

-- Who moves, wipes or removes a tenant's entries holds this lock: an entry on its way is in neither table for the others.
create function accord.ledger_lock(of_tenant text) returns bigint language sql immutable parallel safe
set search_path = pg_catalog
return hashtextextended('accord.ledger.' || of_tenant, 0);
revoke execute on function accord.ledger_lock(text) from public;
grant execute on function accord.ledger_lock(text) to accord_app, accord_system;

revoke all on accord.ledger_inbox, accord.ledger_entry, accord.ledger_checkpoint from accord_app, accord_system;
grant select on accord.ledger_inbox, accord.ledger_entry, accord.ledger_checkpoint to accord_app;
grant insert on accord.ledger_inbox to accord_app;
grant update (salt, actor_type, actor_id, user_id, reason) on accord.ledger_inbox, accord.ledger_entry to accord_app;
grant select, insert, delete on accord.ledger_inbox, accord.ledger_entry, accord.ledger_checkpoint to accord_system;
select accord.ensure_partitions(3);
