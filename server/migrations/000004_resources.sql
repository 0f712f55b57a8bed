-- What the operator knows of each manifest; in file mode this is the manifest's status.
create table accord.resource (
  source text not null,
  kind text not null,
  namespace text not null default '',
  name text not null,
  uid text not null,
  tenant text not null default '',
  -- Name of the tenant's object that the manifest owns; empty while it owns none.
  object text not null default '',
  generation bigint not null,
  spec_digest text not null,
  status jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (source, kind, namespace, name)
);
select accord.isolate('accord.resource');
create index resource_of_tenant on accord.resource (tenant, kind, name);

-- Fencing: whose term it is to write what the manifests of a source say. An operator that was frozen and wakes up after
-- another took over is refused here, whatever it believes of itself.

create table accord.operator_term (
  source text primary key,
  -- The Lease's leaseTransitions; it only grows, also when the Lease was deleted and made again.
  epoch bigint not null check (epoch > 0),
  holder text not null,
  -- The uid of the kube-system namespace: manifests of another cluster must not sweep this one's rows.
  cluster text not null,
  taken_at timestamptz not null default now()
);
select accord.reserve('accord.operator_term');

-- Claiming a term takes this lock exclusively, each transaction of an operator shares it: a transaction that is under way
-- ends before the next term begins, and one that begins later is refused. A row lock would be a write in each transaction.
create function accord.term_lock(term_source text) returns bigint language sql immutable parallel safe
set search_path = pg_catalog
return hashtextextended('accord.operator_term.' || term_source, 0);

-- Binds a transaction to a term. Volatile: the second statement sees what was committed while the first one waited.
create function accord.require_term(term_source text, term_epoch bigint) returns void language plpgsql volatile
set search_path = pg_catalog as $$
declare
  current_epoch bigint;
begin
  perform pg_advisory_xact_lock_shared(accord.term_lock(term_source));
  select epoch into current_epoch from accord.operator_term where source = term_source;
  if current_epoch is distinct from term_epoch then
    raise exception using errcode = 'OT001',
      message = format('the operator''s term %s over %s is over: the term is %s', term_epoch, term_source,
        coalesce(current_epoch::text, 'nobody''s'));
  end if;
end $$;

revoke execute on function accord.require_term(text, bigint), accord.term_lock(text) from public;
grant execute on function accord.require_term(text, bigint), accord.term_lock(text) to accord_system;
