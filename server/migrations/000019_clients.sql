-- Applications that get tokens from a tenant's own issuer.
create table accord.oauth_client (
  tenant text not null references accord.tenant on delete cascade,
  client_id text not null,
  spec jsonb not null,
  revision bigint not null,
  owner jsonb not null,
  -- A client of the same id that was deleted before is another one: its tokens are not this one's.
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, client_id)
);
select accord.isolate('accord.oauth_client');

-- A secret is never stored: the digest is keyed under ACCORD_MASTER_KEY for the tenant, the instant when it was created and the client.
create table accord.oauth_client_secret (
  tenant text not null,
  client_id text not null,
  id uuid not null,
  digest text not null,
  created_at timestamptz not null,
  created_by text not null,
  -- Null: until it is deleted.
  expires_at timestamptz,
  primary key (tenant, client_id, id),
  foreign key (tenant, client_id) references accord.oauth_client on delete cascade
);
create unique index oauth_client_secret_digest on accord.oauth_client_secret (tenant, client_id, digest);
select accord.isolate('accord.oauth_client_secret');
