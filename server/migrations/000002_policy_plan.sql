-- The compiled policy as a plan, which is evaluated without copying the input. Null in what was compiled before: the Wasm runs.
alter table accord.policy_artifact add column plan bytea;
alter table accord.policy_artifact alter column plan set storage external;
