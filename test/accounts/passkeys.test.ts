/** Passkeys, by an authenticator in software that may lie. */
import { describe, expect, test } from 'vitest';
import {
  listPasskeys,
  logInWithPasskey,
  passkeyLogInOptions,
  passkeyRegistrationOptions,
  registerPasskey,
  removePasskey,
  setAccountEnabled,
} from '../../server/accounts/index.ts';
import { limits } from '../../server/core/limits.ts';
import { createAccountsServer } from './accounts.ts';
import { Authenticator } from './authenticator.ts';

const server = await createAccountsServer();
const { accounts } = server.services;
const { clock } = server;
const origin = 'http://accord.test';
const refused = { refused: 'credentials' };

async function enrolled(
  tenant: string,
  email = 'alice@example.org',
  lies: Parameters<Authenticator['create']>[1] = {},
) {
  const account = await server.account(tenant, email);
  const device = new Authenticator(origin);
  const response = device.create(await passkeyRegistrationOptions(accounts, tenant, account.id), lies);
  const passkey = await registerPasskey(accounts, tenant, { account: account.id, response });
  const options = () => passkeyLogInOptions(accounts, tenant);
  return {
    account,
    device,
    passkey,
    options,
    logIn: (one: Record<string, unknown>) => logInWithPasskey(accounts, tenant, one),
  };
}

test('a passkey is added and logs in, again and again', async () => {
  const tenant = await server.tenant();
  const { account, device, passkey, options, logIn } = await enrolled(tenant);
  expect(passkey).toEqual({
    id: expect.any(String),
    name: 'Passkey 1',
    createdAt: expect.any(String),
    backedUp: false,
  });
  for (let i = 0; i < 2; i++)
    expect(await logIn(device.get(await options()))).toEqual({ account, amr: ['pop', 'user'] });
  expect(await listPasskeys(accounts, tenant, account.id)).toMatchObject([
    { id: passkey.id, usedAt: expect.any(String) },
  ]);
});

test('the options ask for ES256 or RS256, a resident key and a verified user, at the host of the base URL', async () => {
  const tenant = await server.tenant();
  const account = await server.account(tenant, 'alice@example.org');
  const options = await passkeyRegistrationOptions(accounts, tenant, account.id);
  expect(options.pubKeyCredParams.map(({ alg }) => alg)).toEqual([-7, -257]);
  expect(options.rp.id).toBe('accord.test');
  expect(options.authenticatorSelection).toMatchObject({ residentKey: 'required', userVerification: 'required' });
  expect(Buffer.from(options.user.id, 'base64url').length).toBeLessThanOrEqual(64);
});

describe('is refused', () => {
  test.each([
    ['of another origin', { origin: 'https://evil.test' }],
    ['of another RP ID', { rpId: 'evil.test' }],
    ['with a challenge of its own', { challenge: Buffer.alloc(54).toString('base64url') }],
    ['without a verified user: one factor counts as two (Zitadel CVE-2025-64103)', { userVerified: false }],
    ['with the handle of another account', { userHandle: Buffer.from('other').toString('base64url') }],
    ['without a handle', { userHandle: '' }],
  ])('an assertion %s', async (_name, lies) => {
    const { device, options, logIn } = await enrolled(await server.tenant());
    expect(await logIn(device.get(await options(), lies))).toEqual(refused);
    expect(await logIn(device.get(await options()))).toHaveProperty('account');
  });

  test('an assertion that was sent before, also at the same time', async () => {
    const { device, options, logIn } = await enrolled(await server.tenant());
    const response = device.get(await options());
    const answers = await Promise.all([logIn(response), logIn(response), logIn(response)]);
    expect(answers.filter((answer) => 'account' in answer)).toHaveLength(1);
  });

  test('an assertion that was sent before, of an authenticator that does not count: passkeys that are synchronized', async () => {
    const { device, options, logIn } = await enrolled(await server.tenant(), undefined, { counter: 0 });
    const response = device.get(await options(), { counter: 0 });
    expect(await logIn(response)).toHaveProperty('account');
    expect(await logIn(response)).toEqual(refused);
    expect(await logIn(device.get(await options(), { counter: 0 }))).toHaveProperty('account');
  });

  test('an assertion of a copied authenticator, whose counter is behind', async () => {
    const { device, options, logIn } = await enrolled(await server.tenant());
    expect(await logIn(device.get(await options(), { counter: 90 }))).toHaveProperty('account');
    expect(await logIn(device.get(await options(), { counter: 89 }))).toEqual(refused);
    expect(await logIn(device.get(await options(), { counter: 90 }))).toEqual(refused);
    expect(await logIn(device.get(await options(), { counter: 91 }))).toHaveProperty('account');
  });

  test('a challenge past challengeTtlMs, and not at it', async () => {
    const { device, options, logIn } = await enrolled(await server.tenant());
    const early = device.get(await options());
    clock.advance(limits.challengeTtlMs - 1);
    expect(await logIn(early)).toHaveProperty('account');
    const late = device.get(await options());
    clock.advance(limits.challengeTtlMs);
    expect(await logIn(late)).toEqual(refused);
  });

  test("a tenant's challenge, passkey and account at another tenant of the same host", async () => {
    const [one, two] = [await server.tenant(), await server.tenant()];
    const here = await enrolled(one);
    const there = await enrolled(two);
    expect(await there.logIn(here.device.get(await there.options()))).toEqual(refused);
    expect(await here.logIn(here.device.get(await there.options()))).toEqual(refused);
  });

  test('a registration for another account than the challenge was made for, unverified, or too long', async () => {
    const tenant = await server.tenant();
    const [alice, bob] = [await server.account(tenant, 'a@example.org'), await server.account(tenant, 'b@example.org')];
    const options = () => passkeyRegistrationOptions(accounts, tenant, alice.id);
    const add = (account: string, response: Record<string, unknown>) =>
      registerPasskey(accounts, tenant, { account, response });
    const isRefused = { code: 'passkey_refused' };
    const device = new Authenticator(origin);
    await expect(add(bob.id, device.create(await options()))).rejects.toMatchObject(isRefused);
    await expect(add(alice.id, device.create(await options(), { userVerified: false }))).rejects.toMatchObject(
      isRefused,
    );
    const long = (chars: number) => {
      const response = { ...device.create(nextOptions) };
      return { ...response, clientExtensionResults: { x: 'x'.repeat(chars - JSON.stringify(response).length - 6) } };
    };
    const nextOptions = await options();
    const most = limits.passkeyResponseBytesMax;
    expect(JSON.stringify(long(most))).toHaveLength(most);
    await expect(add(alice.id, long(most + 1))).rejects.toMatchObject(isRefused);
    await add(alice.id, long(most));
  });

  test('a passkey of a disabled account', async () => {
    const tenant = await server.tenant();
    const { account, device, options, logIn } = await enrolled(tenant);
    await setAccountEnabled(accounts, tenant, { id: account.id, enabled: false }, { actor: 'test' });
    expect(await logIn(device.get(await options()))).toEqual(refused);
  });
});

test('a name that no line can have does not refuse the passkey: the device has it already', async () => {
  const tenant = await server.tenant();
  const { id: account } = await server.account(tenant, 'alice@example.org');
  const names = ['Blue\u0007\nkey', ' \u0000 ', '\ud800'];
  for (const name of names) {
    const response = new Authenticator(origin).create(await passkeyRegistrationOptions(accounts, tenant, account));
    await registerPasskey(accounts, tenant, { account, response, name });
  }
  const kept = (await listPasskeys(accounts, tenant, account)).map(({ name }) => name);
  expect(kept.sort()).toEqual(['Blue key', 'Passkey 2', '\ufffd']);
});

test('an account has at most passkeysMax', async () => {
  const tenant = await server.tenant();
  const { account } = await enrolled(tenant);
  const add = async () => {
    const response = new Authenticator(origin).create(await passkeyRegistrationOptions(accounts, tenant, account.id));
    return registerPasskey(accounts, tenant, {
      account: account.id,
      response,
      name: 'x'.repeat(limits.passkeyNameCharsMax + 1),
    });
  };
  for (let i = 1; i < limits.passkeysMax; i++) expect((await add()).name).toHaveLength(limits.passkeyNameCharsMax);
  await expect(add()).rejects.toMatchObject({ code: 'passkey_quota_reached' });
});

test("other users' passkeys are neither listed nor removed (Zitadel CVE-2024-39683)", async () => {
  const tenant = await server.tenant();
  const alice = await enrolled(tenant, 'a@example.org');
  const bob = await enrolled(tenant, 'b@example.org');
  expect(await listPasskeys(accounts, tenant, bob.account.id)).toMatchObject([{ id: bob.passkey.id }]);
  const remove = (account: string) => removePasskey(accounts, tenant, { account, id: alice.passkey.id });
  await expect(remove(bob.account.id)).rejects.toMatchObject({ code: 'passkey_not_found' });
  await remove(alice.account.id);
  expect(await listPasskeys(accounts, tenant, alice.account.id)).toEqual([]);
});
