-- Delivering events to endpoints: a lane for each subscription, owned by one server at a time (core/lanes).
--
-- Events up to `cursor` were delivered, do not concern the subscription, or stand in delivery_open. `cursor_at`: of the event of that
-- number. `blocked_until`: nothing is sent before it, because the endpoint asked for that or failed `failures` times in a row;
-- `trips`: how often it was blocked for that without a success.
create table accord.event_lane (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  subscription text collate "C" not null,
  cursor bigint not null,
  cursor_at timestamptz(3),
  owner uuid,
  owned_until timestamptz,
  version integer not null default 0,
  failing_since timestamptz(3),
  failures integer not null default 0,
  trips integer not null default 0,
  blocked_until timestamptz(3),
  disabled_at timestamptz(3),
  disabled_reason text,
  primary key (tenant, subscription)
) with (fillfactor = 50);
select accord.isolate('accord.event_lane');

-- Only what failed, or waits behind something of its key that failed. `attempts`: of all kinds; `step`: of the schedule.
create table accord.delivery_open (
  tenant text collate "C" not null,
  subscription text collate "C" not null,
  sequence bigint not null,
  at timestamptz(3) not null,
  attempts integer not null,
  step integer not null,
  next_at timestamptz(3) not null,
  primary key (tenant, subscription, sequence),
  foreign key (tenant, subscription) references accord.event_lane on delete cascade
);
create index delivery_open_due on accord.delivery_open (next_at);
select accord.isolate('accord.delivery_open');

-- Append-only; one partition a day and no default one, as with events. `kind`: l (live), r (replay). `status`: of the answer, 0
-- without one. What of an answer is stored has no addresses of persons in it.
create table accord.delivery_attempt (
  tenant text collate "C" not null,
  subscription text collate "C" not null,
  sequence bigint not null,
  number integer not null,
  at timestamptz(3) not null default clock_timestamp(),
  ms integer not null,
  status smallint not null,
  kind "char" not null check (kind in ('l', 'r')),
  error text,
  answer text
) partition by range (at);
create index delivery_attempt_of_event on accord.delivery_attempt (tenant, subscription, sequence);
-- The newest of all endpoints, for the overview.
create index delivery_attempt_time on accord.delivery_attempt (tenant, at) include (status);
create index delivery_attempt_failed on accord.delivery_attempt (tenant, subscription, sequence) where status not between 200 and 299;
-- Erasing a person looks through what endpoints said.
create index delivery_attempt_said on accord.delivery_attempt (tenant, at) where answer is not null or error is not null;
select accord.isolate('accord.delivery_attempt');

-- A second cursor of a subscription, which moves from `first` to `last` beside the live one.
create table accord.event_replay (
  tenant text collate "C" not null,
  id uuid not null,
  subscription text collate "C" not null,
  first bigint not null,
  cursor bigint not null,
  cursor_at timestamptz(3),
  last bigint not null,
  event_types text[],
  failed_only boolean not null,
  delivered integer not null default 0,
  failed integer not null default 0,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  cancelled boolean not null default false,
  primary key (tenant, id),
  foreign key (tenant, subscription) references accord.event_lane on delete cascade
);
create unique index event_replay_running on accord.event_replay (tenant, subscription) where finished_at is null;
create index event_replay_list on accord.event_replay (tenant, subscription, created_at, id);
create index event_replay_ended on accord.event_replay (finished_at) where finished_at is not null;
select accord.isolate('accord.event_replay');

-- Drops the days of attempts that ended before an instant; not one that is being read. @returns how many
create function accord.drop_attempt_days(ended_before timestamptz) returns integer
language plpgsql security definer set search_path = pg_catalog set lock_timeout = '1s' as $$
declare
  day regclass;
  dropped integer := 0;
begin
  for day in select inhrelid from pg_inherits where inhparent = 'accord.delivery_attempt'::regclass order by inhrelid::regclass::text
  loop
    continue when to_date(right(day::text, 10), 'YYYY_MM_DD')::timestamp at time zone 'UTC' + interval '1 day' > ended_before;
    begin
      execute format('drop table %s', day);
      dropped := dropped + 1;
    exception when lock_not_available then null;
    end;
  end loop;
  return dropped;
end $$;
revoke execute on function accord.drop_attempt_days(timestamptz) from public;
grant execute on function accord.drop_attempt_days(timestamptz) to accord_system;

revoke all on accord.delivery_attempt from accord_app, accord_system;
grant select, insert on accord.delivery_attempt to accord_app;
grant update (answer, error) on accord.delivery_attempt to accord_app;
grant select, delete on accord.delivery_attempt to accord_system;
select accord.ensure_partitions(3);
