-- Servers and the revisions that they serve: Programmed and finalizers wait for the live ones.
create table accord.server (
  id uuid primary key,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
select accord.reserve('accord.server');

create table accord.server_revision (
  server uuid not null references accord.server on delete cascade,
  tenant text not null,
  revision bigint not null,
  primary key (server, tenant)
);
select accord.reserve('accord.server_revision');
