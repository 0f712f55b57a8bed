-- Mail that the service has to send. What a message says and to whom is encrypted, and null once it was handed over; of the
-- address a keyed digest stays, by which erasing finds it.
create table accord.mail_message (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  id uuid not null,
  template text not null,
  language text not null,
  recipient_digest text not null,
  content_encrypted bytea,
  created_at timestamptz(3) not null,
  -- The row is removed at this instant, whether the message was handed over or not: its link is worth nothing any more.
  expires_at timestamptz(3) not null,
  handed_over_at timestamptz(3),
  primary key (tenant, id),
  check ((content_encrypted is null) = (handed_over_at is not null))
);
create index mail_message_waiting on accord.mail_message (created_at) where content_encrypted is not null;
create index mail_message_recipient on accord.mail_message (tenant, recipient_digest);
create index mail_message_expiry on accord.mail_message (expires_at);
select accord.isolate('accord.mail_message');
