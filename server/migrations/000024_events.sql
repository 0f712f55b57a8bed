-- What happened, for those who ask or are told: event streaming.
--
-- An event is written to event_inbox in the transaction of what it reports. The mover, one at a time in the database, gives
-- committed rows their tenant's next numbers, without gaps, and moves them to event. `n` follows the order of an event's key,
-- because the row is inserted behind the lock of what it reports. Bodies are text that Postgres checks and does not take apart: most
-- are written, moved and read whole.
create table accord.event_inbox (
  n bigint generated always as identity primary key,
  tenant text collate "C" not null,
  id uuid not null default uuidv7(),
  time timestamptz(3) not null,
  type text not null,
  key text not null,
  body json not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
select accord.isolate('accord.event_inbox');

-- One partition a day and no default one: dropping a day looks through no rows. It locks the log for a moment, for which it waits at
-- most a second. `at` is the instant of the numbering; it never falls within a tenant.
create table accord.event (
  tenant text collate "C" not null,
  sequence bigint not null check (sequence > 0),
  at timestamptz(3) not null,
  time timestamptz(3) not null,
  id uuid not null,
  type text not null,
  key text not null,
  body json not null,
  primary key (tenant, sequence, at)
) partition by range (at);
-- Rows lie in the order of the instants: what is looked for by its id, which has its instant, is found among those of minutes.
create index event_at on accord.event using brin (at) with (pages_per_range = 16);
select accord.isolate('accord.event');

-- `last`: the newest number of the tenant. `removed`: the newest one that retention has removed.
create table accord.event_counter (
  tenant text collate "C" primary key,
  last bigint not null,
  removed bigint not null default 0 check (removed <= last),
  at timestamptz(3) not null
) with (fillfactor = 50);
select accord.isolate('accord.event_counter');

-- How many events of each type there were in each hour; of decisions, by their outcome. Numbering counts them, one server at a time.
create table accord.event_count (
  tenant text collate "C" not null,
  hour timestamptz(0) not null,
  type text collate "C" not null,
  detail text collate "C" not null,
  count bigint not null,
  primary key (tenant, hour, type, detail)
);
create index event_count_hour on accord.event_count (hour);
select accord.isolate('accord.event_count');

-- Who moves events, or rewrites them in the inbox, holds this lock: an event on its way is in neither table for the others.
create function accord.event_lock() returns bigint language sql immutable parallel safe
set search_path = pg_catalog
return hashtextextended('accord.events', 0);
revoke execute on function accord.event_lock() from public;
grant execute on function accord.event_lock() to accord_app, accord_system;

-- Drops the days that ended before an instant and hold no row any more; not one that is being read. @returns how many
create function accord.drop_event_days(ended_before timestamptz) returns integer
language plpgsql security definer set search_path = pg_catalog set lock_timeout = '1s' as $$
declare
  day regclass;
  used boolean;
  dropped integer := 0;
begin
  for day in select inhrelid from pg_inherits where inhparent = 'accord.event'::regclass order by inhrelid::regclass::text
  loop
    continue when to_date(right(day::text, 10), 'YYYY_MM_DD')::timestamp at time zone 'UTC' + interval '1 day' > ended_before;
    execute format('select exists (select from %s)', day) into used;
    continue when used;
    begin
      execute format('drop table %s', day);
      dropped := dropped + 1;
    exception when lock_not_available then null;
    end;
  end loop;
  return dropped;
end $$;
revoke execute on function accord.drop_event_days(timestamptz) from public;
grant execute on function accord.drop_event_days(timestamptz) to accord_system;

revoke all on accord.event_inbox, accord.event, accord.event_counter, accord.event_count from accord_app, accord_system;
grant select, insert on accord.event_inbox to accord_app;
grant select on accord.event, accord.event_counter, accord.event_count to accord_app;
grant update (key, body) on accord.event_inbox, accord.event to accord_app;
grant select, insert, delete on accord.event_inbox, accord.event to accord_system;
grant select, insert, update, delete on accord.event_counter, accord.event_count to accord_system;
select accord.ensure_partitions(3);
