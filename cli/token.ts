/** `accord token`: mints a token on a local installation (or where ACCORD_DATABASE_URL points) and prints only it. */
import { type Role, roles, type Scope, scopes } from '../server/core/auth/schema.ts';
import { type Config, readConfig } from '../server/core/config.ts';
import { mintClientToken, mintUserToken } from '../server/keys/index.ts';
import { ensureLocalMember, mintPortalToken } from '../server/members/index.ts';
import { createServices, type Services } from '../server/services.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { attachLocal } from './local.ts';

export async function run({ values }: Parsed): Promise<number> {
  const request = requestOf(values);
  console.log(await withServices(values.data as string, request));
  return 0;
}

type Request = (services: Services) => Promise<{ token: string }>;

/** @throws UsageError */
function requestOf(values: Parsed['values']): Request {
  const { tenant, role, client, scope, user } = values;
  const wrong = (why: string) => new UsageError(`accord token: ${why}\nusage: ${commands.token.usage}`);
  if (tenant === undefined) throw wrong('--tenant is missing');
  if ([role, client, user].filter((one) => one !== undefined).length !== 1)
    throw wrong('give one of --role, --client and --user');
  if ((client === undefined) !== (scope === undefined)) throw wrong('--client and --scope go together');
  if (role !== undefined) {
    if (!roles.includes(role as Role)) throw wrong(`--role is one of ${roles.join(', ')}`);
    return async ({ portal }) =>
      mintPortalToken(portal, tenant, await ensureLocalMember(portal, tenant, role as Role), 'cli');
  }
  if (user !== undefined) return ({ mint }) => mintUserToken(mint, tenant, { userId: user });
  const wanted = (scope as string).split(/[\s,]+/).filter(Boolean);
  const unknown = wanted.filter((one) => !scopes.includes(one as Scope));
  if (unknown.length > 0 || wanted.length === 0) throw wrong(`--scope takes ${scopes.join(', ')}`);
  return ({ mint }) => mintClientToken(mint, tenant, { clientId: client as string, scopes: wanted as Scope[] });
}

async function withServices(directory: string, request: Request): Promise<string> {
  const config = readConfig();
  if (config.ACCORD_DATABASE_URL !== undefined) return mintWith(config, request);
  const local = await attachLocal(directory);
  if (local === undefined) throw new UsageError(`accord token: nothing runs on ${directory}; begin with accord start`);
  const baseUrl = config.ACCORD_BASE_URL ?? local.baseUrl;
  return mintWith(
    { ...config, ...local.environment, ...(baseUrl === undefined ? {} : { ACCORD_BASE_URL: baseUrl }) },
    request,
  );
}

async function mintWith(config: Config, request: Request): Promise<string> {
  const services = await createServices({ ...config, ACCORD_LOG_LEVEL: 'error' }, { applicationName: 'token' });
  try {
    return (await request(services)).token;
  } finally {
    await services.close();
  }
}
