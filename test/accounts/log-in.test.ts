/** Signing up by an invitation and logging in by password. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { logIn, readAccount, sendSignUpAgain, signUp, verifyEmail } from '../../server/accounts/index.ts';
import { Passwords } from '../../server/accounts/passwords.ts';
import { storedPassword } from '../../server/accounts/services.ts';
import { readByEmail } from '../../server/accounts/store.ts';
import { limits } from '../../server/core/limits.ts';
import { putTenant } from '../../server/tenants/index.ts';
import { manifestWriter, tenantSpec } from '../helpers/server.ts';
import { createAccountsServer, password, tokenOf } from './accounts.ts';

const server = await createAccountsServer();
const { services, clock } = server;
const { accounts } = services;

describe('an account', () => {
  test('of an invited address is verified, and logs in with its password', async () => {
    const tenant = await server.tenant();
    const account = await server.account(tenant, 'Alice@Example.org');
    expect(account).toMatchObject({ email: 'alice@example.org', emailVerified: true, enabled: true, epoch: 1 });
    expect(await readAccount(accounts, tenant, account.id)).toEqual(account);
    expect(await logIn(accounts, tenant, { email: 'ALICE@example.org', password })).toEqual({ account, amr: ['pwd'] });
    expect(await logIn(accounts, tenant, { email: 'alice@example.org', password: `${password}!` })).toEqual({
      refused: 'credentials',
    });
  });

  test('is the account of its tenant alone', async () => {
    const [one, two] = [await server.tenant(), await server.tenant()];
    const account = await server.account(one, 'alice@example.org');
    expect(await readAccount(accounts, two, account.id)).toBeUndefined();
    expect(await logIn(accounts, two, { email: account.email, password })).toEqual({ refused: 'credentials' });
  });

  test('is not made for another address than the invited one, nor openly unless the tenant wants it', async () => {
    const tenant = await server.tenant();
    const given = { email: 'bob@example.org', password };
    await expect(signUp(accounts, tenant, given)).rejects.toMatchObject({ code: 'sign_up_closed' });
    await expect(signUp(accounts, tenant, { ...given, invitedEmail: 'eve@example.org' })).rejects.toMatchObject({
      code: 'sign_up_closed',
    });
  });

  test('is made for nobody where the tenant says so', async () => {
    const tenant = await server.tenant({ login: { selfRegistration: 'none' } });
    const given = { email: 'bob@example.org', password, invitedEmail: 'bob@example.org' };
    await expect(signUp(accounts, tenant, given)).rejects.toMatchObject({ code: 'sign_up_closed' });
  });

  test('is made by no link of a sign-up after the tenant has closed it, except by that of an invitation', async () => {
    const tenant = await server.open();
    await server.mails();
    const links = [];
    for (const [email, isInvited] of [
      ['open@example.org', false],
      ['invited@example.org', true],
    ] as const) {
      const signedUp = await signUp(accounts, tenant, { email, password, isInvited });
      if (signedUp.status !== 'check_mail') throw new Error(signedUp.status);
      links.push({ token: tokenOf((await server.mails())[0]!.link), password, pending: signedUp.pending });
    }
    const [byAnybody, byInvitation] = links as [(typeof links)[0], (typeof links)[0]];
    const spec = tenantSpec({ login: { selfRegistration: 'invitation' } });
    await putTenant(services.tenants, manifestWriter, tenant, spec);
    await expect(verifyEmail(accounts, tenant, byAnybody)).rejects.toMatchObject({ code: 'account_link_gone' });
    await sendSignUpAgain(accounts, tenant, byAnybody);
    expect(await server.mails()).toEqual([]);
    expect(await verifyEmail(accounts, tenant, byInvitation)).toHaveProperty('account');
  });

  test('has one password in every Unicode form (NFKC)', async () => {
    const tenant = await server.tenant();
    await server.account(tenant, 'zoe@example.org', 'Zo\u00eb drinkt \ufb01jne thee');
    const again = await logIn(accounts, tenant, { email: 'zoe@example.org', password: 'Zoe\u0308 drinkt fijne thee' });
    expect(again).toHaveProperty('account');
  });
});

test('passwords are in the database only as argon2id under the master key, at the cost of the limits', async () => {
  const tenant = await server.tenant();
  const passwords = new Passwords();
  onTestFinished(() => passwords.close());
  const [usual, email] = [{ ...accounts, passwords }, 'costly@example.org'];
  const made = await signUp(usual, tenant, { email, password, invitedEmail: email });
  const stored = await server.services.database.read(tenant, async (tx) =>
    storedPassword(accounts, tenant, await readByEmail(tx, tenant, email)),
  );
  expect(made.status).toBe('created');
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect([limits.argonMemoryKibMin, limits.argonPassesMax]).toEqual([19_456, 2]);
  expect(await logIn(usual, tenant, { email, password })).toHaveProperty('account');
  expect(await logIn(usual, tenant, { email, password: `${password} ` })).toEqual({ refused: 'credentials' });
  expect(clock.now()).toBeGreaterThan(0);
});
