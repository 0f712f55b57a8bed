-- Log-ins of members at the portal, one for all their tenants, and of persons at the pages of their tenant. Of the cookie's value only
-- its SHA-256 is here.
create table accord.page_session (
  tenant text collate "C" not null,
  id bytea not null check (length(id) = 32),
  account uuid not null,
  -- The account's when the session began: with another one it is over.
  epoch integer not null,
  authenticated_at timestamptz(3) not null,
  -- The log-in at the issuer that it came from (oidc_record.uid), with which it ends; null: it began by signing up.
  issuer_session bytea,
  -- By which browser it began.
  device jsonb not null default '{}',
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (tenant, id),
  foreign key (tenant, account) references accord.account on delete cascade
);
create index page_session_account on accord.page_session (tenant, account);
create index page_session_expires on accord.page_session (tenant, expires_at);
select accord.isolate('accord.page_session');

-- In which tenants a person may be a member: what there is to choose from after the log-in. Whether somebody is one, member says.
create table accord.portal_membership (
  tenant text collate "C" not null,
  account uuid not null,
  code text collate "C" not null,
  primary key (tenant, account, code),
  foreign key (tenant, account) references accord.account on delete cascade
);
select accord.isolate('accord.portal_membership');

-- Links that log a tenant's first security admin in, which only `accord start` prints: one for each tenant (`code`), used once. Of the
-- token only its SHA-256 is here.
create table accord.portal_log_in_link (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  code text collate "C" not null,
  token_hash bytea not null check (length(token_hash) = 32),
  email text not null,
  expires_at timestamptz(3) not null,
  primary key (tenant, code)
);
select accord.isolate('accord.portal_log_in_link');
