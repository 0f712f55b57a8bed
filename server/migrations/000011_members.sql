-- The people who run a tenant.
create table accord.member (
  tenant text not null references accord.tenant on delete cascade,
  id uuid not null default uuidv7(),
  email text not null,
  role text not null check (role in ('security-admin', 'config-editor', 'config-viewer', 'support')),
  created_at timestamptz not null default now(),
  -- Whose log-in at the portal it is: an account of the installation's own tenant. Null: nobody has accepted an invitation there.
  person uuid,
  primary key (tenant, id),
  unique (tenant, email)
);
create index member_list on accord.member (tenant, email collate "C");
create index member_person on accord.member (tenant, person);
select accord.isolate('accord.member');

create table accord.portal_token (
  tenant text not null references accord.tenant on delete cascade,
  jti uuid not null,
  member uuid not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (tenant, jti),
  foreign key (tenant, member) references accord.member on delete cascade
);
select accord.isolate('accord.portal_token');

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
  delivered_at timestamptz,
  -- Where it was handed over: NAMESPACE/NAME of a Secret, or the path of a file.
  delivered_to text,
  used_at timestamptz,
  withdrawn_at timestamptz,
  primary key (tenant, id)
);
create unique index member_invitation_token on accord.member_invitation (tenant, token_hash);
-- One link at a time for one address.
create unique index member_invitation_open on accord.member_invitation (tenant, email)
  where used_at is null and withdrawn_at is null;
select accord.isolate('accord.member_invitation');
