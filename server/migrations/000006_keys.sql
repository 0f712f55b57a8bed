-- Private keys are encrypted under ACCORD_MASTER_KEY (AES-256-GCM, the row's identity as additional data).
create table accord.signing_key (
  tenant text not null references accord.tenant on delete cascade,
  kid text not null,
  purpose text not null check (purpose in ('access', 'identity', 'invitation', 'receipt', 'checkpoint')),
  algorithm text not null check (algorithm in ('ES256', 'RS256')),
  public_jwk jsonb not null,
  private_key bytea not null,
  created_at timestamptz not null default now(),
  -- Keys of tokens are published before they sign: those who verify have read them by then.
  activates_at timestamptz not null default now(),
  retires_at timestamptz,
  primary key (tenant, kid)
);
-- One key of a purpose signs, or will: the one before it signs until then, and all others only verify what they signed.
create unique index signing_key_in_use on accord.signing_key (tenant, purpose) where retires_at is null;
select accord.isolate('accord.signing_key');

-- Servers hold public keys in memory. Keys come with what they first sign, without a revision of the tenant.
create function accord.notify_key_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('accord_keys', coalesce(new.tenant, old.tenant));
  return null;
end $$;
create trigger notify_key_change after insert or update or delete on accord.signing_key
  for each row execute function accord.notify_key_change();

-- Tokens of the tenant's own issuer that are refused although they have not expired: a client's, a user's, a client's of one
-- user, those of a person who was erased (id is a hash of the user's), or one.
create table accord.denied_token (
  tenant text not null references accord.tenant on delete cascade,
  kind text not null check (kind in ('client', 'subject', 'grant', 'erased', 'jti')),
  id text not null,
  -- Those issued later are good; null: none is.
  issued_until timestamptz,
  -- Null: until it is lifted.
  expires_at timestamptz,
  -- The tenant's that wrote it: servers read what is new.
  revision bigint not null,
  primary key (tenant, kind, id)
);
create index denied_token_revision on accord.denied_token (tenant, revision);
create index denied_token_expires on accord.denied_token (expires_at);
select accord.isolate('accord.denied_token');

create table accord.installation_key (
  kid text primary key,
  purpose text not null check (purpose in ('portal')),
  algorithm text not null check (algorithm in ('ES256')),
  public_jwk jsonb not null,
  private_key bytea not null,
  created_at timestamptz not null default now(),
  retires_at timestamptz
);
create unique index installation_key_in_use on accord.installation_key (purpose) where retires_at is null;
select accord.reserve('accord.installation_key');
