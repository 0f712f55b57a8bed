/** What bench/oidc.ts sets up: tenants with clients, keys and people, and requests for tokens. */

import { signUp } from '../server/accounts/index.ts';
import { addSecret, type ClientSpec, putClient } from '../server/clients/index.ts';
import { createEncrypter } from '../server/core/encrypter.ts';
import { makeKeyPair, openJwk } from '../server/keys/key-pair.ts';
import type { EncryptedKeyRow } from '../server/keys/schema.ts';
import { insertTokenKey } from '../server/keys/store.ts';
import { type Installation, writer } from './installation.ts';
import type { Connection } from './load.ts';
import { Visitor } from './oidc-visitor.ts';

export const password = 'correct horse battery staple';
export const callback = 'https://app.bench/cb';
export const person = (n: number) => ({ email: `user-${n}@example.org`, password });

const base = {
  ...{ enabled: true, dpopBoundAccessTokens: false, requirePushedAuthorizationRequests: false, firstParty: true },
  applicationType: 'web' as const,
};

/** @returns the secret of a back end `m2m` */
export async function addBackEnd({ services }: Installation, tenant: string): Promise<string> {
  const spec: ClientSpec = {
    ...{ ...base, clientId: 'm2m', grantTypes: ['client_credentials'], scopes: ['authz:evaluate'] },
    tokenEndpointAuthMethod: 'client_secret_basic',
  };
  await putClient(services.clients, writer, tenant, spec);
  return (await addSecret(services.clients, writer, tenant, 'm2m')).result.secret;
}

export async function addApplication({ services }: Installation, tenant: string): Promise<void> {
  await putClient(services.clients, writer, tenant, {
    ...{ ...base, clientId: 'web', grantTypes: ['authorization_code', 'refresh_token'], redirectUris: [callback] },
    ...{ applicationType: 'spa', tokenEndpointAuthMethod: 'none' },
    scopes: ['openid', 'offline_access', 'relationships'],
  } as ClientSpec);
}

/** @returns the accounts' ids */
export async function addPeople({ services }: Installation, tenant: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const { email } = person(n);
    const made = await signUp(services.accounts, tenant, { email, password, invitedEmail: email });
    if (made.status !== 'created') throw new Error(made.status);
    ids.push(made.account.id);
  }
  return ids;
}

/** Gives tenants the RS256 key that they would make when they are first used: one pair for all of them, because making one takes 200 ms. */
export async function giveIdentityKeys({ config, services }: Installation, tenants: readonly string[]): Promise<void> {
  const encrypter = createEncrypter(config.ACCORD_MASTER_KEY as string);
  const place = (tenant: string) => ({ table: 'signing_key', tenant, purpose: 'identity' }) as const;
  const [first = ''] = tenants;
  const pair = await makeKeyPair(encrypter, 'RS256', place(first));
  const { kid: _kid, alg: _alg, use: _use, ...secret } = openJwk(encrypter, pair, place(first));
  const now = new Date().toISOString();
  for (const tenant of tenants) {
    const context = ['signing_key', tenant, pair.kid, 'identity'];
    const key: EncryptedKeyRow = {
      ...pair,
      private_key: encrypter.encrypt(Buffer.from(JSON.stringify(secret)), context),
    };
    const dates = { createdAt: now, activatesAt: now };
    await services.keys.database.write(tenant, (tx) => insertTokenKey(tx, tenant, 'identity', key, dates));
  }
}

export function tokenRequest(
  tenant: string,
  fields: Record<string, string>,
  basic?: { id: string; secret: string },
): Buffer {
  const body = new URLSearchParams(fields).toString();
  const head = [
    `POST /${tenant}/oidc/token HTTP/1.1`,
    ...['host: 127.0.0.1', 'user-agent: accord-bench', 'accept: application/json'],
    ...(basic === undefined ? [] : [`authorization: Basic ${btoa(`${basic.id}:${basic.secret}`)}`]),
    ...['content-type: application/x-www-form-urlencoded', `content-length: ${Buffer.byteLength(body)}`],
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

export const machineToken = (tenant: string, secret: string) =>
  tokenRequest(tenant, { grant_type: 'client_credentials', scope: 'authz:evaluate' }, { id: 'm2m', secret });

/** Logs people in. @returns a refresh token of each, which does not end with the session */
export async function refreshTokens(port: number, baseUrl: string, tenant: string, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let n = 0; n < count; n++) {
    const visitor = new Visitor(port, baseUrl, tenant);
    const asked = { scope: 'openid offline_access relationships', prompt: 'consent', audience: 'https://api.bench' };
    const page = await visitor.open('web', callback, asked);
    const got = await visitor.exchange(await visitor.logIn(page, person(n)), 'web', callback);
    if (got.refresh_token === undefined) throw new Error(`no refresh token: ${JSON.stringify(got)}`);
    tokens.push(got.refresh_token);
  }
  return tokens;
}

export type Refreshed = { answered: number; access: string };

/** Refreshes for so long, each connection the tokens of one log-in, which rotate. @param tokens are replaced by the newest */
export async function refresh(
  connections: Connection[],
  tenant: string,
  tokens: string[],
  ms: number,
): Promise<Refreshed> {
  const until = performance.now() + ms;
  const done: Refreshed = { answered: 0, access: '' };
  await Promise.all(
    connections.map(async (connection, i) => {
      while (performance.now() < until) {
        const fields = { grant_type: 'refresh_token', client_id: 'web', refresh_token: tokens[i] as string };
        const { status, body } = await connection.ask(tokenRequest(tenant, fields));
        if (status !== 200) throw new Error(`${status} ${body}`);
        const got = JSON.parse(body) as { refresh_token: string; access_token: string };
        [tokens[i], done.access] = [got.refresh_token, got.access_token];
        done.answered++;
      }
    }),
  );
  return done;
}
