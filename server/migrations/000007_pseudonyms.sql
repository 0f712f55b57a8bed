-- Actors that were erased. The id is nowhere: a keyed digest of it stands here, and stands for it in what is recorded when
-- somebody asks about the id afterwards. The row goes when the actor comes back.
create table accord.erased_actor (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  -- HMAC-SHA-256 of the id under a key that the database does not hold, base64url.
  pseudonym text collate "C" not null check (length(pseudonym) = 43),
  type text collate "C" not null,
  -- The type was the tenant's default: the user of consents was erased too.
  is_user boolean not null,
  -- When the erasing began, and once it is done, when it ended.
  erased_at timestamptz(3) not null,
  -- How far the erasing has come; null once nothing is left to erase.
  progress jsonb,
  primary key (tenant, pseudonym, type)
);
create index erased_actor_under_way on accord.erased_actor (tenant) where progress is not null;
create index erased_actor_erased_at on accord.erased_actor (tenant, erased_at);
select accord.isolate('accord.erased_actor');

-- The addresses of erased actors that the erasures named, as keyed digests like those of ids: what is recorded after an erasure
-- is compared with them too. They go with the actor's row.
create table accord.erased_contact (
  tenant text collate "C" not null,
  actor_type text collate "C" not null,
  actor_pseudonym text collate "C" not null,
  pseudonym text collate "C" not null check (length(pseudonym) = 43),
  primary key (tenant, pseudonym, actor_pseudonym, actor_type),
  foreign key (tenant, actor_pseudonym, actor_type) references accord.erased_actor on delete cascade
);
create index erased_contact_actor on accord.erased_contact (tenant, actor_pseudonym, actor_type);
select accord.isolate('accord.erased_contact');

-- Whoever writes records holds the first one shared, whoever records what was asked the second; erasing takes both, so that
-- what began before it is there to be erased, and what begins after it knows of it. The second one is held by transactions
-- that span tenants, so nobody may hold it for long.
create function accord.erasing_write_lock(of_tenant text) returns bigint language sql immutable parallel safe
set search_path = pg_catalog
return hashtextextended('accord.erasing.write.' || of_tenant, 0);
create function accord.erasing_look_lock(of_tenant text) returns bigint language sql immutable parallel safe
set search_path = pg_catalog
return hashtextextended('accord.erasing.look.' || of_tenant, 0);
revoke execute on function accord.erasing_write_lock(text), accord.erasing_look_lock(text) from public;
grant execute on function accord.erasing_write_lock(text), accord.erasing_look_lock(text) to accord_app, accord_system;
