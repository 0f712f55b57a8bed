/** `accord keys rotate`: makes new keys for the tokens of a tenant's own issuer. */

import { apiOwner } from '../server/core/ownership.ts';
import { rotateKeys } from '../server/keys/index.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { withServices } from './with-services.ts';

const wrong = (why: string) => new UsageError(`accord keys: ${why}\nusage: ${commands.keys.usage}`);

export async function run({ values, positionals }: Parsed): Promise<number> {
  const { tenant, data } = values;
  if (positionals.length !== 1 || positionals[0] !== 'rotate') throw wrong('say accord keys rotate');
  if (tenant === undefined) throw wrong('--tenant is missing');
  const { result } = await withServices('keys', data as string, ({ keys }) =>
    rotateKeys(keys, tenant, { owner: apiOwner, actor: 'cli' }),
  );
  for (const { purpose, kid, activatesAt } of result) {
    console.log(`${what[purpose]}: the key ${kid} is published and signs from ${activatesAt} on`);
  }
  return 0;
}

const what = { access: 'access tokens', identity: 'ID tokens' } as const;
