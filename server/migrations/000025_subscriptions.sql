-- Endpoints of a tenant that its events are sent to.
create table accord.event_subscription (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  id text collate "C" not null,
  spec jsonb not null,
  enabled boolean not null generated always as (not (spec -> 'paused')::boolean) stored,
  -- Those that sign requests, and that of `auth`: JSON, encrypted under ACCORD_MASTER_KEY.
  secrets bytea not null,
  revision bigint not null,
  owner jsonb not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  updated_by text not null,
  primary key (tenant, id)
);
select accord.isolate('accord.event_subscription');
