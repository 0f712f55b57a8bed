/**
 * The secrets of compose.yaml, made when it runs first: in volumes, so that no file of yours and no environment has them. What is
 * there is never made anew, because data that is encrypted or a role that exists needs it.
 */
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// biome-ignore lint/style/noProcessEnv: a program of its own, which must not load configuration's
const { DATABASE_HOST = 'postgres:5432', DATABASE_SECRETS, ACCORD_SECRETS, OPERATOR_DATA } = process.env;
/** Users of the images: the official one of Postgres, and ours. */
const [POSTGRES_USER, ACCORD_USER] = [999, 65532];
const isRoot = process.getuid?.() === 0;

function own(path, user) {
  if (isRoot) chownSync(path, user, user);
}

/** Whole or not at all: it is written beside its place first. */
function write(directory, name, text, user) {
  const [draft, file] = [join(directory, `.${name}`), join(directory, name)];
  writeFileSync(draft, text, { mode: 0o400 });
  own(draft, user);
  renameSync(draft, file);
}

for (const [directory, user] of [
  [DATABASE_SECRETS, POSTGRES_USER],
  [ACCORD_SECRETS, ACCORD_USER],
  [OPERATOR_DATA, ACCORD_USER],
]) {
  mkdirSync(directory, { recursive: true });
  own(directory, user);
}

const last = 'superuser-password';
if (existsSync(join(DATABASE_SECRETS, last))) {
  // biome-ignore lint/suspicious/noConsole: what the log of the service says
  console.log('The secrets are there.');
} else {
  const secret = () => randomBytes(32).toString('base64url');
  const [owner, server] = [secret(), secret()];
  const url = (role, password) => `postgresql://${role}:${password}@${DATABASE_HOST}/accord\n`;
  write(ACCORD_SECRETS, 'master-key', `${secret()}\n`, ACCORD_USER);
  write(ACCORD_SECRETS, 'migration-url', url('accord_owner', owner), ACCORD_USER);
  write(ACCORD_SECRETS, 'database-url', url('accord', server), ACCORD_USER);
  const roles = [
    `create role accord_owner login nosuperuser nobypassrls createrole password '${owner}';`,
    `create role accord login nosuperuser nobypassrls nocreatedb nocreaterole password '${server}';`,
    'create database accord owner accord_owner;',
  ];
  write(DATABASE_SECRETS, 'roles.sql', `${roles.join('\n')}\n`, POSTGRES_USER);
  // Written last: without it, all of them are made again, and Postgres has not started yet.
  write(DATABASE_SECRETS, last, `${secret()}\n`, POSTGRES_USER);
  // biome-ignore lint/suspicious/noConsole: what the log of the service says
  console.log('Made the secrets.');
}
