--! breaking-change
-- What every room's tables build on. Each room has a file of its own, in the order of server/rooms.ts where foreign keys allow it.
--
-- Two group roles, made once a cluster. accord_app is what every transaction runs as; row-level security shows it the
-- rows of the tenant in accord.tenant and nothing while that is unset. accord_system is the one role that sees all
-- tenants; a transaction takes it by `set local role` (server/core/db/database.ts, system()).
do $$
begin
  if not exists (select from pg_roles where rolname = 'accord_app') then
    create role accord_app nologin nosuperuser nobypassrls;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;
do $$
begin
  if not exists (select from pg_roles where rolname = 'accord_system') then
    create role accord_system nologin nosuperuser nobypassrls;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;

grant usage on schema accord to accord_app, accord_system;

-- Binds a table to the tenant of the transaction, also for the table's owner.
create function accord.isolate(target regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format(
    'create policy of_tenant on %s using (tenant = current_setting(''accord.tenant'', true))'
    ' with check (tenant = current_setting(''accord.tenant'', true))', target);
  execute format('create policy across_tenants on %s to accord_system using (true) with check (true)', target);
  execute format('grant select, insert, update, delete on %s to accord_app, accord_system', target);
end $$;

-- A table without tenants' data, for accord_system only.
create function accord.reserve(target regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy system_only on %s to accord_system using (true) with check (true)', target);
  execute format('grant select, insert, update, delete on %s to accord_system', target);
end $$;

-- Makes the partitions of this month and the next ones of every partitioned table of the schema: each is partitioned by an
-- instant. Run at every start and daily, by any role.
-- The default partitions catch what no month holds, so that a missed run never refuses a write.
create function accord.ensure_partitions(months_ahead integer) returns void
language plpgsql security definer set search_path = pg_catalog as $$
declare
  parent text;
  first date;
begin
  perform pg_advisory_xact_lock(hashtextextended('accord.partitions', 0));
  for parent in select relname from pg_class
    where relnamespace = 'accord'::regnamespace and relkind = 'p' and not relispartition order by relname
  loop
    for month in 0 .. least(months_ahead, 12) loop
      first := (date_trunc('month', now() at time zone 'UTC') + make_interval(months => month))::date;
      if to_regclass(format('accord.%I', parent || to_char(first, '"_"YYYY_MM'))) is null then
        execute format('create table accord.%I partition of accord.%I for values from (%L) to (%L)',
          parent || to_char(first, '"_"YYYY_MM'), parent,
          first::timestamp at time zone 'UTC', (first + interval '1 month') at time zone 'UTC');
      end if;
    end loop;
  end loop;
end $$;
revoke all on function accord.ensure_partitions(integer) from public;
grant execute on function accord.ensure_partitions(integer) to accord_app, accord_system;

revoke execute on function accord.isolate(regclass), accord.reserve(regclass) from public;
