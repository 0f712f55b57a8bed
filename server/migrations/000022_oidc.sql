-- What the authorization servers of tenants remember: sessions, interactions, grants, codes, tokens that are not JWTs, and what was
-- used already. Ids are hashes and payloads encrypted, so that a copy of the table holds no code, refresh token or session.
create table accord.oidc_record (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  model text collate "C" not null,
  id bytea not null check (length(id) = 32),
  -- Empty when the session has ended.
  payload bytea not null,
  grant_id bytea,
  uid bytea,
  user_code bytea,
  -- Keyed digests of the account and of the client, by which rows are found that end with them.
  account text collate "C",
  client text collate "C",
  expires_at timestamptz(3) not null,
  consumed_at timestamptz(3),
  ended_at timestamptz(3),
  primary key (tenant, model, id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index oidc_record_grant on accord.oidc_record (tenant, grant_id) where grant_id is not null;
create index oidc_record_uid on accord.oidc_record (tenant, model, uid) where uid is not null;
create unique index oidc_record_user_code on accord.oidc_record (tenant, user_code) where user_code is not null;
create index oidc_record_account on accord.oidc_record (tenant, account) where account is not null;
create index oidc_record_expiry on accord.oidc_record (expires_at);
select accord.isolate('accord.oidc_record');

-- What persons allowed applications, until they take it back: a grant is of one session, and ends with it.
create table accord.client_consent (
  tenant text collate "C" not null,
  account uuid not null,
  client_id text not null,
  -- {scopes, claims, resources: {resource: [scope]}}
  granted jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant, account, client_id),
  foreign key (tenant, account) references accord.account on delete cascade,
  foreign key (tenant, client_id) references accord.oauth_client on delete cascade
);
create index client_consent_client on accord.client_consent (tenant, client_id);
select accord.isolate('accord.client_consent');
