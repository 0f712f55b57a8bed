-- Identity providers whose access tokens a tenant accepts.
create table accord.trusted_issuer (
  tenant text not null references accord.tenant on delete cascade,
  name text not null,
  spec jsonb not null,
  revision bigint not null,
  owner jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, name)
);
create unique index trusted_issuer_issuer on accord.trusted_issuer (tenant, (spec ->> 'issuer'));
select accord.isolate('accord.trusted_issuer');

-- What each server found when it last read the keys of a trusted issuer; the operator shows it as a condition. A finding is
-- about the URLs that it names: when the issuer's are others, it says nothing any more.
create table accord.issuer_keys (
  server uuid not null references accord.server on delete cascade,
  tenant text not null,
  name text not null,
  issuer text not null,
  jwks_uri text not null,
  -- Null: there are keys.
  error text,
  checked_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  primary key (server, tenant, name),
  foreign key (tenant, name) references accord.trusted_issuer on delete cascade
);
create index issuer_keys_of_issuer on accord.issuer_keys (tenant, name);
create index issuer_keys_changed on accord.issuer_keys (changed_at);
select accord.isolate('accord.issuer_keys');
