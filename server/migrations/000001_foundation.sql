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

-- Makes the partitions of every partitioned table of the schema: each is partitioned by an instant. Those with a default
-- partition have one a month, and the default one catches what no month holds; those without have one a day, a week ahead.
-- Run at every start and daily, by any role.
create function accord.ensure_partitions(months_ahead integer) returns void
language plpgsql security definer set search_path = pg_catalog as $$
declare
  parent record;
  first date;
  part text;
begin
  perform pg_advisory_xact_lock(hashtextextended('accord.partitions', 0));
  for parent in select relname as name, partdefid = 0 as is_daily
    from pg_class join pg_partitioned_table on partrelid = oid
    where relnamespace = 'accord'::regnamespace and not relispartition order by relname
  loop
    for ahead in 0 .. case when parent.is_daily then 7 else least(months_ahead, 12) end loop
      if parent.is_daily then
        first := (now() at time zone 'UTC')::date + ahead;
      else
        first := (date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead))::date;
      end if;
      part := parent.name || to_char(first, case when parent.is_daily then '"_"YYYY_MM_DD' else '"_"YYYY_MM' end);
      if to_regclass(format('accord.%I', part)) is null then
        execute format('create table accord.%I partition of accord.%I for values from (%L) to (%L)', part, parent.name,
          first::timestamp at time zone 'UTC',
          (first + case when parent.is_daily then interval '1 day' else interval '1 month' end) at time zone 'UTC');
      end if;
    end loop;
  end loop;
end $$;
revoke all on function accord.ensure_partitions(integer) from public;
grant execute on function accord.ensure_partitions(integer) to accord_app, accord_system;

revoke execute on function accord.isolate(regclass), accord.reserve(regclass) from public;
