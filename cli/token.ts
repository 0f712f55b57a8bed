/** `accord token`: mints a token on a local installation (or where ACCORD_DATABASE_URL points) and prints only it. */
import { type Role, roles, type Scope, scopes } from '../server/core/auth/schema.ts';
import { mintClientToken, mintUserToken } from '../server/keys/index.ts';
import { ensureLocalMember, mintPortalToken } from '../server/members/index.ts';
import type { Services } from '../server/services.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { withServices } from './with-services.ts';

export async function run({ values }: Parsed): Promise<number> {
  const request = requestOf(values);
  console.log((await withServices('token', values.data as string, request)).token);
  return 0;
}

type Request = (services: Services) => Promise<{ token: string }>;

/** @throws UsageError */
function requestOf(values: Parsed['values']): Request {
  const { tenant, role, client, scope, user, email } = values;
  const wrong = (why: string) => new UsageError(`accord token: ${why}\nusage: ${commands.token.usage}`);
  if (tenant === undefined) throw wrong('--tenant is missing');
  if ([role, client, user].filter((one) => one !== undefined).length !== 1)
    throw wrong('give one of --role, --client and --user');
  if ((client === undefined) !== (scope === undefined)) throw wrong('--client and --scope go together');
  if (email !== undefined && user === undefined) throw wrong('--email goes with --user');
  if (role !== undefined) {
    if (!roles.includes(role as Role)) throw wrong(`--role is one of ${roles.join(', ')}`);
    return async ({ members }) =>
      mintPortalToken(members, tenant, await ensureLocalMember(members, tenant, role as Role), 'cli');
  }
  if (user !== undefined)
    return ({ keys }) => mintUserToken(keys, tenant, { userId: user, ...(email === undefined ? {} : { email }) });
  const wanted = (scope as string).split(/[\s,]+/).filter(Boolean);
  const unknown = wanted.filter((one) => !scopes.includes(one as Scope));
  if (unknown.length > 0 || wanted.length === 0) throw wrong(`--scope takes ${scopes.join(', ')}`);
  return ({ keys }) => mintClientToken(keys, tenant, { clientId: client as string, scopes: wanted as Scope[] });
}
