-- People who were asked to become members of a tenant: single-use, expiring links. Of the token only its SHA-256 is here.
create table accord.member_invitation (
  tenant text not null references accord.tenant on delete cascade,
  id uuid not null default uuidv7(),
  email text not null,
  role text not null check (role in ('security-admin', 'config-editor', 'config-viewer', 'support')),
  token_hash bytea not null check (length(token_hash) = 32),
  -- Whether the Tenant's manifest asks for it; then the operator hands the link over.
  of_manifest boolean not null,
  created_at timestamptz not null,
  created_by text not null,
  expires_at timestamptz not null,
  -- When the link of one that a manifest asks for was handed over; until then each try makes another token.
  reported_at timestamptz,
  -- Where it was handed over: NAMESPACE/NAME of a Secret, or the path of a file.
  reported_to text,
  used_at timestamptz,
  withdrawn_at timestamptz,
  primary key (tenant, id)
);
create unique index member_invitation_token on accord.member_invitation (tenant, token_hash);
-- One link at a time for one address.
create unique index member_invitation_open on accord.member_invitation (tenant, email)
  where used_at is null and withdrawn_at is null;
select accord.isolate('accord.member_invitation');

-- Values of Secrets that a Tenant refers to, sealed under ACCORD_MASTER_KEY with the row's identity as additional data. The
-- digest is keyed too: it tells whether a Secret changed, and nothing to whoever guesses its value.
create table accord.tenant_secret (
  tenant text not null references accord.tenant on delete cascade,
  name text not null,
  digest text not null,
  sealed bytea not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, name)
);
select accord.isolate('accord.tenant_secret');
