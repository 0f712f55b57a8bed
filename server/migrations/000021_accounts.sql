-- End users of a tenant who log in at its own issuer. The id is the actor's: an account is an actor of the tenant's default type.
create table accord.account (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  id uuid not null,
  -- As addresses are compared (core/mail-address.ts).
  email text collate "C" not null,
  email_verified boolean not null,
  display_name text,
  language text,
  enabled boolean not null default true,
  -- PHC string of argon2id, encrypted: whoever has a backup without the master key cannot try passwords. Null: none.
  password_encrypted bytea,
  -- Increases when what was proved before is worth nothing any more (a reset, another password, disabling): log-ins and
  -- sessions that began under an earlier epoch end.
  epoch integer not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (tenant, id)
);
create unique index account_email on accord.account (tenant, email);
select accord.isolate('accord.account');

-- Passkeys (WebAuthn credentials).
create table accord.account_credential (
  tenant text collate "C" not null,
  -- The credential id, base64url.
  id text collate "C" not null,
  account uuid not null,
  name text not null,
  public_key bytea not null,
  counter bigint not null,
  transports jsonb not null,
  backed_up boolean not null,
  created_at timestamptz(3) not null,
  used_at timestamptz(3),
  primary key (tenant, id),
  foreign key (tenant, account) references accord.account on delete cascade
);
create index account_credential_account on accord.account_credential (tenant, account);
select accord.isolate('accord.account_credential');

-- Log-ins of other issuers that are linked to an account: (issuer, subject) and nothing else is the identity.
create table accord.account_identity (
  tenant text collate "C" not null,
  issuer text collate "C" not null,
  subject text collate "C" not null,
  account uuid not null,
  created_at timestamptz(3) not null,
  primary key (tenant, issuer, subject),
  foreign key (tenant, account) references accord.account on delete cascade
);
create index account_identity_account on accord.account_identity (tenant, account);
select accord.isolate('accord.account_identity');

-- Secrets that are used once: links of mails, and links between log-ins that wait for a proof. Of the secret only its SHA-256 is here.
create table accord.account_token (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  token_hash bytea not null check (length(token_hash) = 32),
  purpose text not null check (purpose in ('sign_up', 'verify_email', 'reset_password', 'link_identity')),
  -- Null: it is for an account that is not there yet.
  account uuid,
  email text collate "C" not null,
  -- The account's epoch when it was made: it is void when that is over.
  epoch integer,
  -- What it does, encrypted.
  content_encrypted bytea,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  primary key (tenant, token_hash),
  foreign key (tenant, account) references accord.account on delete cascade
);
create index account_token_account on accord.account_token (tenant, account, purpose);
create index account_token_email on accord.account_token (tenant, email);
create index account_token_expiry on accord.account_token (expires_at);
select accord.isolate('accord.account_token');

-- Passkey challenges that were answered: each is answered once. They are issued without a row.
create table accord.account_challenge (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  challenge_hash bytea not null,
  expires_at timestamptz(3) not null,
  primary key (tenant, challenge_hash)
);
create index account_challenge_expiry on accord.account_challenge (expires_at);
select accord.isolate('accord.account_challenge');

-- Failures in a row, by address (also of those that have no account) and by network, as keyed digests. counted_at is when the
-- last attempt was; where the count goes down by itself, it is until when that was done.
create table accord.login_attempt (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  kind text not null check (kind in ('account', 'network', 'mail', 'mail_network')),
  key_digest text collate "C" not null,
  failures integer not null,
  counted_at timestamptz(3) not null,
  blocked_until timestamptz(3) not null,
  primary key (tenant, kind, key_digest)
) with (fillfactor = 80);
create index login_attempt_counted on accord.login_attempt (counted_at);
select accord.isolate('accord.login_attempt');
