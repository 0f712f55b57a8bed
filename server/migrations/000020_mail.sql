-- Mail that the service has to send. What a message says and to whom is encrypted, and null once it was sent or has failed; of
-- the address a keyed digest stays, by which erasing finds it, and a mask for people.
create table accord.mail_message (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  id uuid not null,
  template text not null,
  -- As it was asked for (BCP 47); of which template it is, is decided when it is sent.
  language text,
  transactional boolean not null,
  recipient_digest text not null,
  recipient_mask text not null,
  content_encrypted bytea,
  status text not null default 'waiting' check (status in ('waiting', 'sent', 'failed')),
  -- Why it failed, in one word, and what the mail server said, without addresses.
  reason text,
  answer text,
  attempts integer not null default 0,
  next_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  -- It is not sent after this instant: its link is worth nothing any more.
  expires_at timestamptz(3) not null,
  settled_at timestamptz(3),
  -- The row is removed at this instant.
  kept_until timestamptz(3) not null,
  primary key (tenant, id),
  check ((status = 'waiting') = (content_encrypted is not null)),
  check ((status = 'waiting') = (settled_at is null))
);
create index mail_message_waiting on accord.mail_message (tenant, next_at) where status = 'waiting';
create index mail_message_due on accord.mail_message (next_at, tenant) where status = 'waiting';
create index mail_message_recipient on accord.mail_message (tenant, recipient_digest, created_at, id);
create index mail_message_log on accord.mail_message (tenant, created_at, id);
create index mail_message_expiry on accord.mail_message (expires_at) where status = 'waiting';
create index mail_message_kept on accord.mail_message (kept_until);
select accord.isolate('accord.mail_message');

-- The lane of each tenant that has sent a mail: one server sends its mails at a time (core/db/lanes.ts).
create table accord.mail_lane (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  lane text collate "C" not null default 'mail',
  version integer not null default 1,
  owner uuid,
  owned_until timestamptz,
  primary key (tenant, lane)
);
select accord.isolate('accord.mail_lane');

-- Addresses that get no mail: they do not exist, or their owner said so. `unsubscribed` is for what is not transactional.
create table accord.mail_suppression (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  recipient_digest text collate "C" not null,
  recipient_mask text,
  reason text not null check (reason in ('bounced', 'complained', 'unsubscribed')),
  at timestamptz(3) not null,
  primary key (tenant, recipient_digest)
);
select accord.isolate('accord.mail_suppression');

-- The sender of a tenant's mail, where no manifest says it.
create table accord.mail_settings (
  tenant text collate "C" primary key references accord.tenant on delete cascade,
  spec jsonb not null,
  revision bigint not null,
  updated_at timestamptz not null default now(),
  updated_by text not null
);
select accord.isolate('accord.mail_settings');

create table accord.mail_template (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  name text collate "C" not null,
  language text collate "C" not null,
  spec jsonb not null,
  revision bigint not null,
  owner jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, name, language)
);
select accord.isolate('accord.mail_template');
