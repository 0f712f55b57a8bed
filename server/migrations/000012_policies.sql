-- Policies, their history and their compiled form.
create table accord.policy (
  tenant text not null references accord.tenant on delete cascade,
  name text not null check (length(name) between 1 and 253),
  number bigint not null,
  rego text,
  graph jsonb,
  -- Whose consents it reads: relationship and path.
  data_subjects jsonb,
  effective_rego text not null,
  artifact text not null,
  reads jsonb not null,
  -- Its own tests, which passed when they were written; whether one of them is answered allow, null where there are none or it never allows.
  tests jsonb,
  allow_tested boolean,
  revision bigint not null,
  owner jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, name)
);
select accord.isolate('accord.policy');

-- The history of a policy name; it outlives the policy, and numbers go on when the name is used again.
create table accord.policy_revision (
  tenant text not null references accord.tenant on delete cascade,
  name text not null,
  number bigint not null,
  action text not null check (action in ('put', 'delete', 'restore', 'adopt')),
  rego text,
  graph jsonb,
  data_subjects jsonb,
  effective_rego text,
  artifact text,
  revision bigint not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, name, number)
);
select accord.isolate('accord.policy_revision');

-- Compiled policies by the digest of (source, compiler, builtins). Content-addressed, so that a policy that comes back is not compiled again.
create table accord.policy_artifact (
  tenant text not null references accord.tenant on delete cascade,
  digest text not null,
  wasm bytea not null,
  -- The same as a plan, which is evaluated without copying the input. Null where that cannot be: the Wasm runs.
  plan bytea,
  about jsonb not null,
  created_at timestamptz not null default now(),
  primary key (tenant, digest)
);
alter table accord.policy_artifact alter column wasm set storage external, alter column plan set storage external;
select accord.isolate('accord.policy_artifact');
