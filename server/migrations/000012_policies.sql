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
create index policy_updated on accord.policy (updated_at);
select accord.isolate('accord.policy');

-- The history of a policy name; it outlives the policy, and numbers go on when the name is used again.
create table accord.policy_revision (
  tenant text not null references accord.tenant on delete cascade,
  name text not null,
  number bigint not null,
  action text not null check (action in ('put', 'delete', 'restore', 'adopt', 'library')),
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

-- What policies are compiled with or find below data: libraries of Rego modules, and JSON documents.
create table accord.policy_part (
  tenant text not null references accord.tenant on delete cascade,
  kind text not null check (kind in ('library', 'data')),
  -- The package of a library (a.b), the path of a document (a/b).
  name text not null check (length(name) between 1 and 253),
  number bigint not null,
  digest text not null,
  -- Of its content: what is too much for a policy is refused before it is read.
  bytes integer not null,
  -- Of a library: the beginnings of its references below data, outside of its own package.
  refs jsonb not null,
  revision bigint not null,
  owner jsonb not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, kind, name)
);
select accord.isolate('accord.policy_part');

-- The history of a library or document; a row never changes. Content: JSON, null for a deletion.
create table accord.policy_part_revision (
  tenant text not null references accord.tenant on delete cascade,
  kind text not null,
  name text not null,
  number bigint not null,
  action text not null check (action in ('put', 'delete', 'restore', 'adopt')),
  digest text,
  content text,
  -- As in policy_part.
  refs jsonb,
  revision bigint not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  primary key (tenant, kind, name, number)
);
select accord.isolate('accord.policy_part_revision');

-- Which libraries and documents a policy or library uses, those that its libraries use included; found when it is compiled.
create table accord.policy_use (
  tenant text not null references accord.tenant on delete cascade,
  user_kind text not null check (user_kind in ('policy', 'library')),
  user_name text not null,
  kind text not null,
  name text not null,
  primary key (tenant, user_kind, user_name, kind, name)
);
create index on accord.policy_use (tenant, kind, name);
select accord.isolate('accord.policy_use');
