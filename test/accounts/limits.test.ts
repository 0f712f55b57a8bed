/** The bounds of accounts: each at the limit and one past it. */
import { describe, expect, test } from 'vitest';
import { logIn, requestPasswordReset, resetPassword, signUp, verifyEmail } from '../../server/accounts/index.ts';
import { beginAttempt } from '../../server/accounts/lockout.ts';
import { Passwords } from '../../server/accounts/passwords.ts';
import { networkOf, passwordBytes } from '../../server/accounts/rules.ts';
import { limits } from '../../server/core/limits.ts';
import { write } from '../../server/writes/index.ts';
import { passwordCost } from '../helpers/server.ts';
import { createAccountsServer, password, tokenOf } from './accounts.ts';

const server = await createAccountsServer();
const { accounts } = server.services;
const { clock } = server;

describe('a password', () => {
  const chosen = async (given: string, email = 'erika@example.org') => {
    const tenant = await server.open();
    return signUp(accounts, tenant, { email, password: given });
  };
  const refused = (code: string) => ({ code, status: 400, errors: [{ pointer: '/password' }] });

  test('has at least passwordCharsMin characters', async () => {
    expect(limits.passwordCharsMin).toBe(8);
    await expect(chosen('vq7%kzm')).rejects.toMatchObject(refused('password_too_short'));
    await expect(chosen('💜💛💚💙')).rejects.toMatchObject(refused('password_too_short'));
    expect(await chosen('vq7%kzmw')).toHaveProperty('status', 'check_mail');
  });

  test('has at most passwordBytesMax bytes of its normalized form, and is never cut', async () => {
    const most = `x1y2${'é'.repeat((limits.passwordBytesMax - 4) / 2)}`;
    expect(passwordBytes(most)).toHaveLength(limits.passwordBytesMax);
    await expect(chosen(`${most}x`)).rejects.toMatchObject(refused('password_too_long'));
    expect(passwordBytes('\ufdfa'.repeat(20))).toBeUndefined(); // 18 characters each, in NFKC
    const tenant = await server.tenant();
    const { email } = await server.account(tenant, 'alice@example.org', most);
    expect(await logIn(accounts, tenant, { email, password: most })).toHaveProperty('account');
    expect(await logIn(accounts, tenant, { email, password: `${most}x` })).toEqual({ refused: 'credentials' });
    expect(await logIn(accounts, tenant, { email, password: 'half \ud800 of it' })).toEqual({ refused: 'credentials' });
  });

  test.each(['password', 'PASSWORD1', 'iloveyou!', 'qwertyuiop', '1234567890', 'aaaaaaaaaa', '!!dragon123'])(
    'that attackers try first is refused: %s',
    async (given) => {
      await expect(chosen(given)).rejects.toMatchObject(refused('password_too_common'));
    },
  );

  test.each(['carshare1234567', 'erikaexample', 'erika@example.org', 'Carshare-Erika-!'])(
    'of the name of the tenant and parts of the address is refused: %s',
    async (given) => {
      await expect(chosen(given)).rejects.toMatchObject(refused('password_like_account'));
    },
  );

  test('is no worse for a word of the address beside enough else', async () => {
    expect(await chosen('erika sings in the bath')).toHaveProperty('status', 'check_mail');
  });
});

describe('the thread of passwords', () => {
  const busy = { code: 'passwords_busy', status: 503 };
  /** A worker that never answers. */
  const silence = new URL('data:text/javascript,setInterval(() => {}, 1000)');

  test('takes passwordQueuePerNetworkMax of a network, and those of other networks and tenants meanwhile', async () => {
    const passwords = new Passwords({ cost: passwordCost });
    const order: string[] = [];
    const hash = (tenant: string, network = '192.0.2.1') =>
      passwords.verify({ tenant, network }, password, undefined).then(() => order.push(`${tenant} ${network}`));
    // One is under way, and the others wait.
    const storm = Array.from({ length: limits.passwordQueuePerNetworkMax + 1 }, () => hash('busy'));
    await expect(hash('busy')).rejects.toMatchObject(busy);
    await Promise.all([hash('busy', '2001:db8::1'), hash('quiet')]);
    expect(order.filter((one) => one === 'busy 192.0.2.1').length).toBeLessThanOrEqual(3);
    await Promise.all(storm);
    await passwords.close();
  });

  test('takes passwordQueuePerTenantMax of a tenant', async () => {
    const passwords = new Passwords({ cost: passwordCost });
    const hash = (at: number, tenant = 'busy') =>
      passwords.verify({ tenant, network: `192.0.2.${at % 200}` }, password, undefined);
    const storm = Array.from({ length: limits.passwordQueuePerTenantMax + 1 }, (_, at) => hash(at));
    const ended = Promise.allSettled(storm);
    await expect(hash(0)).rejects.toMatchObject(busy);
    await hash(0, 'quiet');
    await passwords.close();
    expect((await ended).filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(3);
  });

  test('an attempt that found it busy does not count, and those before it do', async () => {
    const tenant = await server.open();
    const { email } = await server.account(tenant, 'busy@example.org');
    const network = '192.0.2.7';
    const guess = (from = '192.0.2.8', by = accounts) => logIn(by, tenant, { email, password: 'wrong', network: from });
    for (let i = 2; i < limits.loginFailuresFreeMax; i++) expect(await guess()).toEqual({ refused: 'credentials' });
    const signedUp = { email: 'new@example.org', network: '192.0.2.8' };
    await server.mails();
    await signUp(accounts, tenant, { ...signedUp, password });
    const token = tokenOf((await server.mails())[0]!.link);
    const open = (given: string, from = signedUp.network, by = accounts) =>
      verifyEmail(by, tenant, { token, password: given, network: from });
    await write(accounts, { tenant }, { locks: 'records' }, async (unit) => {
      for (let i = 2; i < limits.loginFailuresFreeMax; i++)
        await beginAttempt(accounts.encrypter, unit, 'login', signedUp);
    });
    const stuck = new Passwords({ file: silence });
    const busyAccounts = { ...accounts, passwords: stuck };
    const waiting = Array.from({ length: limits.passwordQueuePerNetworkMax + 1 }, () =>
      stuck.verify({ tenant, network }, 'x', undefined),
    );
    const ended = Promise.allSettled(waiting);
    await expect(guess(network, busyAccounts)).rejects.toMatchObject(busy);
    await expect(open(password, network, busyAccounts)).rejects.toMatchObject(busy);
    await stuck.close();
    await ended;
    expect(await guess()).toEqual({ refused: 'credentials' });
    expect(await open('wrong')).toEqual({ refused: 'credentials', email: signedUp.email });
    expect(await open('wrong')).toHaveProperty('retryAfterSeconds', 1);
    expect(await guess()).toEqual({ refused: 'credentials', retryAfterSeconds: 1 });
    expect(await logIn(accounts, tenant, { email, password })).toEqual({
      refused: 'credentials',
      retryAfterSeconds: 1,
    });
  });

  test('is replaced when it ends or does not answer within passwordHashMsMax', async () => {
    const ending = new Passwords({ file: new URL('data:text/javascript,process.exit(3)') });
    await expect(ending.hash({ tenant: 't' }, password)).rejects.toThrow('exit 3');
    await ending.close();
    const silent = new Passwords({ file: silence, hashMsMax: 200 });
    await expect(silent.hash({ tenant: 't' }, password)).rejects.toThrow('took too long');
    const waiting = expect(silent.hash({ tenant: 't' }, password)).rejects.toThrow('shutting down');
    await silent.close();
    await waiting;
    expect(limits.passwordHashMsMax).toBeGreaterThan(1000);
  });
});

describe('attempts', () => {
  const wrong = (tenant: string, email: string, network?: string) =>
    logIn(accounts, tenant, { email, password: 'wrong', network });

  test('of an address wait after loginFailuresFreeMax: loginDelayMsMin, doubled up to loginDelayMsMax', async () => {
    const tenant = await server.tenant();
    const { email } = await server.account(tenant, 'alice@example.org');
    for (let i = 1; i < limits.loginFailuresFreeMax; i++) {
      expect(await wrong(tenant, email)).toEqual({ refused: 'credentials' });
    }
    for (let ms = limits.loginDelayMsMin; ms < 2 * limits.loginDelayMsMax; ms *= 2) {
      const waitMs = Math.min(ms, limits.loginDelayMsMax);
      expect(await wrong(tenant, email)).toEqual({ refused: 'credentials', retryAfterSeconds: waitMs / 1000 });
      clock.advance(waitMs - 1);
      // Also with the right password; and it is not counted.
      expect(await logIn(accounts, tenant, { email, password })).toEqual({
        refused: 'credentials',
        retryAfterSeconds: 1,
      });
      clock.advance(1);
    }
    expect(await logIn(accounts, tenant, { email, password })).toHaveProperty('account');
    expect(await wrong(tenant, email)).toEqual({ refused: 'credentials' });
  });

  test('are forgotten loginForgetMs after the last one', async () => {
    const tenant = await server.tenant();
    const fail = () => wrong(tenant, 'nobody@example.org');
    for (let i = 0; i < limits.loginFailuresFreeMax; i++) await fail();
    clock.advance(limits.loginForgetMs - 1);
    expect(await fail()).toHaveProperty('retryAfterSeconds');
    clock.advance(limits.loginForgetMs);
    expect(await fail()).toEqual({ refused: 'credentials' });
  });

  test('of a network wait after loginNetworkFailuresFreeMax, whatever the addresses, and other networks do not', async () => {
    const tenant = await server.tenant();
    const { email } = await server.account(tenant, 'alice@example.org');
    // Most of them as a wrong password begins, without its hash.
    await write(accounts, { tenant }, { locks: 'records' }, async (unit) => {
      for (let i = 3; i < limits.loginNetworkFailuresFreeMax; i++) {
        const trying = { email: `x${i}@example.org`, network: '2001:db8:1:2::1' };
        await beginAttempt(accounts.encrypter, unit, 'login', trying);
      }
    });
    expect(await wrong(tenant, 'x1@example.org', '2001:db8:1:2::1')).toEqual({ refused: 'credentials' });
    // Who has an account there takes back only what was its own.
    await logIn(accounts, tenant, { email, password, network: '2001:db8:1:2::9' });
    expect(await wrong(tenant, 'x2@example.org', '2001:db8:1:2::1')).toEqual({ refused: 'credentials' });
    expect(await wrong(tenant, 'y@example.org', '2001:db8:1:2:ffff::2')).toHaveProperty('retryAfterSeconds', 1);
    expect(await logIn(accounts, tenant, { email, password, network: '2001:db8:1:2::3' })).toHaveProperty('refused');
    expect(await logIn(accounts, tenant, { email, password, network: '2001:db8:1:3::1' })).toHaveProperty('account');
    // A right password makes nobody wait.
    clock.advance(limits.loginDelayMsMin);
    for (const network of ['2001:db8:1:2::3', '2001:db8:1:2::4'])
      expect(await logIn(accounts, tenant, { email, password, network })).toHaveProperty('account');
    expect(await wrong(tenant, 'z@example.org', '2001:db8:1:2::5')).toHaveProperty('retryAfterSeconds', 2);
    clock.advance(2 * limits.loginNetworkForgetOneMs);
    expect(await wrong(tenant, 'z@example.org', '2001:db8:1:2::5')).toHaveProperty('retryAfterSeconds', 1);
  });

  test('of another server whose clock is behind are not too many for that', async () => {
    const tenant = await server.tenant();
    const { email } = await server.account(tenant, 'alice@example.org');
    const network = '2001:db8:5:6::1';
    clock.advance(2000);
    expect(await logIn(accounts, tenant, { email, password, network })).toHaveProperty('account');
    clock.advance(-2000);
    expect(await logIn(accounts, tenant, { email, password, network })).toHaveProperty('account');
    expect(await wrong(tenant, email, network)).toEqual({ refused: 'credentials' });
  });

  test('are counted by an IPv4 address, or by 64 bits of an IPv6 one', () => {
    expect(['192.0.2.1', '::ffff:192.0.2.1', '2001:db8:1:2:3::4', '::1', 'unix', undefined].map(networkOf)).toEqual([
      ...['192.0.2.1', '192.0.2.1', '2001:db8:1:2::/64', '0:0:0:0::/64', undefined, undefined],
    ]);
  });
});

describe('mails', () => {
  const ask = async (tenant: string, email: string, network?: string) => {
    await requestPasswordReset(accounts, tenant, { email, network });
    return (await server.mails()).length;
  };

  test('to an address wait after accountMailsFreeMax: accountMailDelayMsMin, doubled up to accountMailDelayMsMax', async () => {
    const tenant = await server.tenant();
    const { email } = await server.account(tenant, 'alice@example.org');
    await server.mails();
    for (let i = 1; i < limits.accountMailsFreeMax; i++) expect(await ask(tenant, email)).toBe(1);
    for (let ms = limits.accountMailDelayMsMin; ms < 2 * limits.accountMailDelayMsMax; ms *= 2) {
      expect(await ask(tenant, email)).toBe(1);
      clock.advance(Math.min(ms, limits.accountMailDelayMsMax) - 1);
      expect(await ask(tenant, email)).toBe(0);
      clock.advance(1);
    }
  });

  test('that a network asks for wait after accountMailsNetworkFreeMax', async () => {
    const tenant = await server.tenant();
    const { email } = await server.account(tenant, 'alice@example.org');
    await server.mails();
    for (let i = 0; i < limits.accountMailsNetworkFreeMax; i++) await ask(tenant, `${i}@example.org`, '192.0.2.1');
    // The network is told, whether the address has an account or not.
    const limited = {
      code: 'account_mails_limited',
      headers: { 'retry-after': `${limits.accountMailDelayMsMin / 1000}` },
    };
    for (const to of [email, 'nobody@example.org'])
      await expect(ask(tenant, to, '192.0.2.1')).rejects.toMatchObject(limited);
    expect(await ask(tenant, email, '192.0.2.2')).toBe(1);
    clock.advance(limits.accountMailDelayMsMin);
    expect(await ask(tenant, email, '192.0.2.1')).toBe(1);
    // Two of 21 are forgotten by then, and the next delay is the shortest again.
    clock.advance(2 * limits.accountMailsNetworkForgetOneMs - limits.accountMailDelayMsMin);
    expect(await ask(tenant, 'x@example.org', '192.0.2.1')).toBe(0);
    await expect(ask(tenant, email, '192.0.2.1')).rejects.toMatchObject(limited);
  });

  test('do not count for a network when their links are used', async () => {
    const tenant = await server.open();
    const [email, network] = ['pupil@example.org', '192.0.2.3'];
    for (let i = 1; i < limits.accountMailsNetworkFreeMax; i++) await ask(tenant, `${i}@example.org`, network);
    await signUp(accounts, tenant, { email, password, network });
    const link = async () => tokenOf((await server.mails())[0]!.link);
    await verifyEmail(accounts, tenant, { token: await link(), password, network: '192.0.2.4' });
    for (let i = 0; i < 2; i++) {
      await requestPasswordReset(accounts, tenant, { email, network });
      await resetPassword(accounts, tenant, { token: await link(), password: `${i} correct horses` });
    }
    // Those whose links nobody used count.
    await ask(tenant, 'x@example.org', network);
    await expect(ask(tenant, email, network)).rejects.toMatchObject({ code: 'account_mails_limited' });
  });

  test('of a sign-up have links that expire at verificationTtlMs', async () => {
    const tenant = await server.open();
    const links = [];
    for (const email of ['a@example.org', 'b@example.org']) {
      await signUp(accounts, tenant, { email, password });
      links.push(tokenOf((await server.mails())[0]!.link));
    }
    clock.advance(limits.verificationTtlMs - 1);
    expect(await verifyEmail(accounts, tenant, { token: links[0]!, password })).toHaveProperty('account');
    clock.advance(1);
    const late = verifyEmail(accounts, tenant, { token: links[1]!, password });
    await expect(late).rejects.toMatchObject({ code: 'account_link_gone' });
  });
});

test('a name has at most accountNameCharsMax characters', async () => {
  const tenant = await server.tenant();
  const given = (displayName: string, email: string) =>
    signUp(accounts, tenant, { email, password, displayName, invitedEmail: email });
  const most = 'é'.repeat(limits.accountNameCharsMax);
  expect(await given(most, 'a@example.org')).toMatchObject({ account: { displayName: most } });
  await expect(given(`${most}é`, 'b@example.org')).rejects.toMatchObject({ errors: [{ pointer: '/displayName' }] });
  await expect(given('two\nlines', 'b@example.org')).rejects.toMatchObject({ errors: [{ pointer: '/displayName' }] });
});
