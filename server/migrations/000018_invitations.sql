-- Invitations to share a relationship. The requestToken is nowhere: it is signed from the row, whose token_id the newest
-- one carries. Of the contact a keyed digest and a mask stay; the address itself is encrypted, and null once it is not needed.
create table accord.invitation (
  tenant text collate "C" not null references accord.tenant on delete cascade,
  id uuid not null,
  -- It is expired when pending and expires_at is reached.
  status text not null check (status in ('pending', 'accepted', 'declined', 'revoked')),
  from_type text collate "C" not null,
  name text collate "C" not null,
  to_type text collate "C" not null,
  direction text not null check (direction in ('acceptor_to_target', 'target_to_acceptor')),
  target_type text collate "C" not null,
  target_id text collate "C" not null,
  invitor_type text collate "C" not null,
  invitor_id text collate "C" not null,
  -- Made by a back end: nobody's right is looked at again when it is accepted.
  by_tenant boolean not null,
  contact_type text not null,
  contact_digest text not null,
  contact_mask text not null,
  contact_encrypted bytea,
  -- Of the type when it was made: contact is kept when the type no longer says so.
  binding text not null check (binding in ('none', 'contact')),
  language text,
  redirect_uri text,
  delivery text not null check (delivery in ('mail', 'event', 'response')),
  deliveries integer not null default 1,
  delivered_at timestamptz(3) not null,
  token_id uuid not null,
  max_uses integer not null check (max_uses > 0),
  uses integer not null default 0 check (uses between 0 and max_uses),
  -- Whole seconds, as exp of the token.
  expires_at timestamptz(0) not null,
  relationship_expires_at timestamptz(3),
  created_at timestamptz(3) not null,
  ended_at timestamptz(3),
  ended_by text,
  -- Whether the event of its expiry was emitted.
  told_expired boolean not null default false,
  primary key (tenant, id),
  check ((status = 'pending') = (ended_at is null)),
  check (status = 'pending' or contact_encrypted is null)
);
create index invitation_target on accord.invitation (tenant, target_type, target_id, id);
create index invitation_invitor on accord.invitation (tenant, invitor_type, invitor_id, id);
create index invitation_made on accord.invitation (tenant, invitor_type, invitor_id, created_at, id);
create index invitation_status on accord.invitation (tenant, status, id);
create index invitation_contact on accord.invitation (tenant, contact_digest, id);
create index invitation_to_wipe on accord.invitation (tenant, expires_at) where contact_encrypted is not null;
create index invitation_due on accord.invitation (expires_at, tenant) where status = 'pending' and not told_expired;
create index invitation_to_tell on accord.invitation (tenant, expires_at) where status = 'pending' and not told_expired;
select accord.isolate('accord.invitation');

-- Who accepted: nobody uses an invitation twice, and asking again is answered as before.
create table accord.invitation_use (
  tenant text collate "C" not null,
  invitation uuid not null,
  acceptor_type text collate "C" not null,
  acceptor_id text collate "C" not null,
  accepted_at timestamptz(3) not null,
  primary key (tenant, invitation, acceptor_type, acceptor_id),
  foreign key (tenant, invitation) references accord.invitation on delete cascade
);
select accord.isolate('accord.invitation_use');

-- What was to be delivered, and how far it came. Mail and events are sent by rooms to come; until then they stay recorded.
create table accord.invitation_delivery (
  tenant text collate "C" not null,
  invitation uuid not null,
  number integer not null,
  kind text not null check (kind in ('mail', 'event', 'response')),
  status text not null check (status in ('recorded', 'delivered')),
  token_id uuid not null,
  recorded_at timestamptz(3) not null,
  -- The mail by which it travels, in accord.mail_message; what became of it stands there.
  message uuid,
  primary key (tenant, invitation, number),
  foreign key (tenant, invitation) references accord.invitation on delete cascade
);
select accord.isolate('accord.invitation_delivery');

-- Erasing finds by these what a person accepted, and what it ended; the time line of a person reads the first in its order.
create index invitation_use_acceptor on accord.invitation_use (tenant, acceptor_type, acceptor_id, accepted_at, invitation);
create index invitation_ended_by on accord.invitation (tenant, ended_by) where ended_by is not null;
