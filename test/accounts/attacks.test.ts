/** Attacks on log-ins, links and linking, each named after its source (KC Keycloak, Z Zitadel). */
import { describe, expect, test, vi } from 'vitest';
import {
  addressOfLink,
  changePassword,
  decideUpstream,
  identityProof,
  linkIdentity,
  listIdentities,
  logIn,
  logInWithIdentity,
  requestPasswordReset,
  resetPassword,
  sendSignUpAgain,
  setAccountEnabled,
  signUp,
  verifyEmail,
} from '../../server/accounts/index.ts';
import { limits } from '../../server/core/limits.ts';
import { createAccountsServer, password, tokenOf } from './accounts.ts';

const server = await createAccountsServer();
const { accounts } = server.services;
const { clock } = server;
const other = 'another good password';
const gone = { code: 'account_link_gone' };
const by = { actor: 'test' };
const enabled = { isEnabled: () => true };
const idp = 'https://idp.test';

async function resetLink(tenant: string, email: string): Promise<string> {
  await server.mails();
  await requestPasswordReset(accounts, tenant, { email });
  return tokenOf((await server.mails())[0]?.link ?? 'http://none/');
}

async function proofOf(tenant: string, email: string, subject = 'alice') {
  const identity = { issuer: idp, subject, email, emailVerified: true };
  const answer = await logInWithIdentity(accounts, tenant, { identity, ...enabled });
  if (!('prove' in answer)) throw new Error('it had nothing to prove');
  return answer.prove;
}

describe('linking', () => {
  test('an equal address without email_verified of the other issuer links nothing and tells nothing: Z CVE-2026-56666', async () => {
    const tenant = await server.open();
    await server.account(tenant, 'alice@example.org');
    const tell = (email: string) => {
      const identity = { issuer: idp, subject: 'mallory', email, emailVerified: false };
      return logInWithIdentity(accounts, tenant, { identity, ...enabled });
    };
    const refused = { refuse: 'email_unverified' };
    expect(await tell('alice@example.org')).toEqual(refused);
    expect(await tell('nobody@example.org')).toEqual(refused);
  });

  test('an equal address never links, whether the account here has proved its own or not: KC#53041', async () => {
    const tenant = await server.tenant();
    const account = await server.account(tenant, 'alice@example.org');
    expect(await proofOf(tenant, 'Alice@Example.org')).toMatchObject({ account: account.id });
    expect(await listIdentities(accounts, tenant, account.id)).toEqual([]);
    const claims = { issuer: idp, subject: 'a', email: 'alice@example.org', emailVerified: true };
    const known = { isEnabled: true, linked: undefined, sameAddress: account.id, maySignUp: true };
    expect(decideUpstream(claims, known)).toEqual({ prove: account.id });
  });

  test('the proof links this identity to this account, and no other to none: KC CVE-2026-9087', async () => {
    const tenant = await server.tenant();
    const alice = await server.account(tenant, 'alice@example.org');
    const mallory = await server.account(tenant, 'mallory@example.org');
    const { token } = await proofOf(tenant, 'alice@example.org');
    await expect(linkIdentity(accounts, tenant, { token, account: mallory.id, ...enabled })).rejects.toMatchObject(
      gone,
    );
    await linkIdentity(accounts, tenant, { token, account: alice.id, ...enabled });
    expect(await listIdentities(accounts, tenant, alice.id)).toMatchObject([{ issuer: idp, subject: 'alice' }]);
    const identity = { issuer: idp, subject: 'alice', emailVerified: false };
    expect(await logInWithIdentity(accounts, tenant, { identity, ...enabled })).toMatchObject({
      account: { id: alice.id },
      amr: ['fed'],
    });
    const elsewhere = { ...identity, issuer: 'https://evil.test' };
    expect(await logInWithIdentity(accounts, tenant, { identity: elsewhere, ...enabled })).toEqual({
      refuse: 'email_unverified',
    });
  });

  test('a proof is used once, also by parallel requests: Z CVE-2025-46815', async () => {
    const tenant = await server.tenant();
    const alice = await server.account(tenant, 'alice@example.org');
    const { token } = await proofOf(tenant, 'alice@example.org');
    const link = () => linkIdentity(accounts, tenant, { token, account: alice.id, ...enabled });
    const all = await Promise.allSettled([link(), link(), link()]);
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(link()).rejects.toMatchObject(gone);
  });

  test('a disabled issuer neither logs in nor links, also one that was disabled meanwhile: Z CVE-2025-64717', async () => {
    const tenant = await server.open();
    const alice = await server.account(tenant, 'alice@example.org');
    const disabled = { isEnabled: () => false };
    const { token } = await proofOf(tenant, 'alice@example.org');
    await expect(linkIdentity(accounts, tenant, { token, account: alice.id, ...disabled })).rejects.toMatchObject(gone);
    await linkIdentity(accounts, tenant, { token, account: alice.id, ...enabled });
    const identity = { issuer: idp, subject: 'alice', emailVerified: true };
    expect(await logInWithIdentity(accounts, tenant, { identity, ...disabled })).toEqual({ refuse: 'issuer_disabled' });
  });

  test('an identity of one account is not linked to another', async () => {
    const tenant = await server.tenant();
    const [alice, bob] = [await server.account(tenant, 'a@example.org'), await server.account(tenant, 'b@example.org')];
    const identity = { issuer: idp, subject: 'x' };
    const link = async (account: string) => {
      const { token } = await identityProof(accounts, tenant, { account, identity });
      return linkIdentity(accounts, tenant, { token, account, ...enabled });
    };
    await link(alice.id);
    await link(alice.id);
    await expect(link(bob.id)).rejects.toMatchObject({ code: 'identity_linked' });
  });

  test('a proof expires at identityLinkTtlMs, and an account has at most identitiesMax', async () => {
    const tenant = await server.tenant();
    const account = (await server.account(tenant, 'a@example.org')).id;
    const prove = (i: number) =>
      identityProof(accounts, tenant, { account, identity: { issuer: idp, subject: `${i}` } });
    const link = ({ token }: { token: string }) => linkIdentity(accounts, tenant, { token, account, ...enabled });
    const [early, late] = [await prove(0), await prove(1)];
    clock.advance(limits.identityLinkTtlMs - 1);
    await link(early);
    clock.advance(1);
    await expect(link(late)).rejects.toMatchObject(gone);
    for (let i = 1; i < limits.identitiesMax; i++) await link(await prove(i));
    await expect(link(await prove(limits.identitiesMax))).rejects.toMatchObject({ code: 'identity_quota_reached' });
  });
});

describe('a reset', () => {
  test('has no step that can be skipped: only its own link chooses a password: KC CVE-2026-18963', async () => {
    const tenant = await server.open();
    const alice = await server.account(tenant, 'alice@example.org');
    await server.mails();
    const { token: linking } = await proofOf(tenant, 'alice@example.org');
    await signUp(accounts, tenant, { email: 'new@example.org', password });
    const signingUp = tokenOf((await server.mails())[0]!.link);
    const reset = await resetLink(tenant, 'alice@example.org');
    for (const token of [linking, signingUp, '', alice.id, 'x'.repeat(43)]) {
      await expect(resetPassword(accounts, tenant, { token, password: other })).rejects.toMatchObject(gone);
    }
    await expect(verifyEmail(accounts, tenant, { token: reset, password })).rejects.toMatchObject(gone);
    const elsewhere = await server.tenant();
    await expect(resetPassword(accounts, elsewhere, { token: reset, password: other })).rejects.toMatchObject(gone);
    expect((await resetPassword(accounts, tenant, { token: reset, password: other })).account.epoch).toBe(2);
    expect(await logIn(accounts, tenant, { email: alice.email, password: other })).toHaveProperty('account');
  });

  test('mails a link that is built from the base URL alone: Z CVE-2025-64101', async () => {
    const tenant = await server.tenant();
    await server.account(tenant, 'alice@example.org');
    const token = await server.member(tenant, 'security-admin');
    const list = await server.app.inject({
      url: `/tenants/${tenant}/accounts`,
      headers: { authorization: `Bearer ${token}` },
    });
    await server.mails();
    const response = await server.app.inject({
      ...{ method: 'POST', url: `/tenants/${tenant}/accounts/${list.json().accounts[0].id}/reset` },
      headers: {
        authorization: `Bearer ${token}`,
        host: 'evil.test',
        'x-forwarded-host': 'evil.test',
        'x-forwarded-proto': 'https',
      },
    });
    expect(response.statusCode).toBe(200);
    const [mail] = await server.mails();
    expect(mail?.link).toMatch(new RegExp(`^http://accord\\.test/${tenant}/account/reset\\?token=[\\w-]{43}$`));
    expect(mail?.text).not.toContain('evil');
  });

  test('works once, expires at passwordResetTtlMs, and voids the links before it', async () => {
    const tenant = await server.tenant();
    await server.account(tenant, 'alice@example.org');
    const first = await resetLink(tenant, 'alice@example.org');
    const second = await resetLink(tenant, 'alice@example.org');
    await resetPassword(accounts, tenant, { token: second, password: other });
    for (const token of [first, second]) {
      await expect(resetPassword(accounts, tenant, { token, password })).rejects.toMatchObject(gone);
    }
    clock.advance(limits.loginForgetMs);
    const [early, late] = [await resetLink(tenant, 'alice@example.org'), await resetLink(tenant, 'alice@example.org')];
    clock.advance(limits.passwordResetTtlMs - 1);
    await resetPassword(accounts, tenant, { token: early, password });
    clock.advance(1);
    await expect(resetPassword(accounts, tenant, { token: late, password })).rejects.toMatchObject(gone);
  });

  test('ends log-ins that are under way: KC#50632', async () => {
    const tenant = await server.tenant();
    const alice = await server.account(tenant, 'alice@example.org');
    const token = await resetLink(tenant, alice.email);
    const told = vi.fn(async () => {});
    accounts.onAccountChanged(told);
    const { promise: isReset, resolve: goOn } = Promise.withResolvers<void>();
    const verify = accounts.passwords.verify.bind(accounts.passwords);
    // The password is right when it is hashed, and the reset is committed before the log-in is.
    const spy = vi.spyOn(accounts.passwords, 'verify').mockImplementation(async (...given) => {
      const isRight = await verify(...given);
      await isReset;
      return isRight;
    });
    const underWay = logIn(accounts, tenant, { email: alice.email, password });
    await resetPassword(accounts, tenant, { token, password: other });
    goOn();
    expect(await underWay).toMatchObject({ refused: 'credentials' });
    spy.mockRestore();
    expect(told).toHaveBeenCalledWith(expect.anything(), { account: alice.id, because: 'password_reset' });
  });

  test('is void when it was asked for while the password was changed', async () => {
    const tenant = await server.tenant();
    const alice = await server.account(tenant, 'alice@example.org');
    let token = '';
    // In the transaction that changes the password, which has removed the links that it saw.
    accounts.onAccountChanged(async (_unit, { account }) => {
      if (account === alice.id && token === '') token = await resetLink(tenant, alice.email);
    });
    await changePassword(accounts, tenant, { account: alice.id, current: password, password: other });
    expect(token).not.toBe('');
    await expect(resetPassword(accounts, tenant, { token, password })).rejects.toMatchObject(gone);
    expect(await logIn(accounts, tenant, { email: alice.email, password: other })).toHaveProperty('account');
  });

  test('of a disabled account does nothing', async () => {
    const tenant = await server.tenant();
    const alice = await server.account(tenant, 'alice@example.org');
    const token = await resetLink(tenant, alice.email);
    await setAccountEnabled(accounts, tenant, { id: alice.id, enabled: false }, by);
    await expect(resetPassword(accounts, tenant, { token, password: other })).rejects.toMatchObject(gone);
    expect(await resetLink(tenant, alice.email)).toBe('');
    expect(await logIn(accounts, tenant, { email: alice.email, password })).toEqual({ refused: 'credentials' });
  });
});

describe('guessing', () => {
  test('counts at every door that takes a password: Z CVE-2025-64102', async () => {
    const tenant = await server.open();
    const alice = await server.account(tenant, 'alice@example.org');
    const doors = [
      () => logIn(accounts, tenant, { email: alice.email, password: 'wrong' }),
      () => changePassword(accounts, tenant, { account: alice.id, current: 'wrong', password: other }),
    ];
    for (let i = 0; i < limits.loginFailuresFreeMax; i++) await doors[i % doors.length]!();
    const right = [
      await logIn(accounts, tenant, { email: alice.email, password }),
      await changePassword(accounts, tenant, { account: alice.id, current: password, password: other }),
    ];
    for (const answer of right) expect(answer).toEqual({ refused: 'credentials', retryAfterSeconds: 1 });
    await signUp(accounts, tenant, { email: 'new@example.org', password });
    const token = tokenOf((await server.mails()).at(-1)!.link);
    const guess = (given: string) => verifyEmail(accounts, tenant, { token, password: given });
    for (let i = 0; i < limits.loginFailuresFreeMax; i++) await guess('wrong');
    expect(await guess(password)).toMatchObject({ refused: 'credentials', retryAfterSeconds: 1 });
  });

  test('at the same time is not guessing more often', async () => {
    const tenant = await server.tenant();
    const { email } = await server.account(tenant, 'alice@example.org');
    const verify = vi.spyOn(accounts.passwords, 'verify');
    await Promise.all(Array.from({ length: 20 }, () => logIn(accounts, tenant, { email, password: 'wrong' })));
    const looked = verify.mock.calls.filter(([, , stored]) => stored !== undefined);
    verify.mockRestore();
    expect(looked).toHaveLength(limits.loginFailuresFreeMax);
  });

  test('the answer is the same for unknown, wrong, disabled and locked: Z GHSA-pvm5-9frx-264r, KC GHSA-rhgq-f8x5-j2jc', async () => {
    const tenant = await server.tenant();
    await server.account(tenant, 'alice@example.org');
    const bob = await server.account(tenant, 'bob@example.org');
    await setAccountEnabled(accounts, tenant, { id: bob.id, enabled: false }, by);
    const emails = ['alice@example.org', 'bob@example.org', 'nobody@example.org', 'no address', 'x'.repeat(5000)];
    const hashed = vi.spyOn(accounts.passwords, 'verify');
    const all = [];
    for (const email of emails) {
      const answers = [];
      for (let i = 0; i < limits.loginFailuresFreeMax + 2; i++) {
        answers.push(await logIn(accounts, tenant, { email, password: 'wrong' }));
      }
      all.push(answers);
    }
    expect(new Set(all.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(all[0]!.at(-1)).toEqual({ refused: 'credentials', retryAfterSeconds: 1 });
    // The time is that of a hash, which each attempt takes that need not wait: that follows from the attempts alone.
    expect(hashed).toHaveBeenCalledTimes(emails.length * limits.loginFailuresFreeMax);
    hashed.mockRestore();
  });

  test('sign-up and reset answer the same, whether the address has an account or not', async () => {
    const tenant = await server.open();
    await server.account(tenant, 'alice@example.org');
    await server.mails();
    const answers = await Promise.all(
      ['alice@example.org', 'nobody@example.org'].map((email) => signUp(accounts, tenant, { email, password })),
    );
    const handle = expect.stringMatching(/^[\w-]{43}$/);
    expect(answers).toEqual(answers.map(() => ({ status: 'check_mail', pending: handle })));
    const mails = await server.mails();
    expect(mails.map(({ to, subject }) => [to, subject]).sort()).toEqual([
      ['alice@example.org', 'You already have an account at Carshare'],
      ['nobody@example.org', 'Confirm your email address for Carshare'],
    ]);
    expect(tokenOf(mails.find(({ to }) => to === 'alice@example.org')!.link)).toBe('');
    // A mail is written for either, in the same statements; the one that nobody has an account for is undone.
    const encrypted = vi.spyOn(accounts.encrypter, 'encrypt');
    const written = [];
    for (const email of ['alice@example.org', 'unknown@example.org']) {
      encrypted.mockClear();
      expect(await requestPasswordReset(accounts, tenant, { email })).toBeUndefined();
      written.push(encrypted.mock.calls.map(([, [table]]) => table));
    }
    encrypted.mockRestore();
    expect(written).toEqual(Array(2).fill(['account_token', 'mail_message']));
    expect((await server.mails()).map(({ to }) => to)).toEqual(['alice@example.org']);
  });

  test('who signs up with the address of somebody else does not get in when that person opens the link', async () => {
    const tenant = await server.open();
    await server.mails();
    await signUp(accounts, tenant, { email: 'victim@example.org', password: 'chosen by mallory' });
    const token = tokenOf((await server.mails())[0]!.link);
    expect(await addressOfLink(accounts, tenant, { token, purpose: 'sign_up' })).toBe('victim@example.org');
    expect(await logIn(accounts, tenant, { email: 'victim@example.org', password: 'chosen by mallory' })).toEqual({
      refused: 'credentials',
    });
    expect(await verifyEmail(accounts, tenant, { token, password })).toHaveProperty('refused', 'credentials');
    const verified = await verifyEmail(accounts, tenant, { token, password: 'chosen by mallory' });
    expect(verified).toMatchObject({ account: { emailVerified: true } });
    await expect(verifyEmail(accounts, tenant, { token, password })).rejects.toMatchObject(gone);
  });
});

describe('the mail of a sign-up', () => {
  test('is sent again to the same address, with a link of its own for the same password', async () => {
    const tenant = await server.open();
    await server.mails();
    const email = 'late@example.org';
    const signedUp = await signUp(accounts, tenant, { email, password });
    if (signedUp.status !== 'check_mail') throw new Error(signedUp.status);
    const again = await sendSignUpAgain(accounts, tenant, { pending: signedUp.pending });
    expect(await sendSignUpAgain(accounts, tenant, { pending: again })).not.toBe(again);
    const mails = await server.mails();
    expect(mails.map(({ to }) => to)).toEqual([email, email, email]);
    expect(new Set(mails.map(({ link }) => link)).size).toBe(3);
    // What stands in the page opens nothing by itself.
    for (const token of [signedUp.pending, again])
      await expect(verifyEmail(accounts, tenant, { token, password })).rejects.toMatchObject(gone);
    const token = tokenOf(mails[2]!.link);
    expect(await verifyEmail(accounts, tenant, { token, password })).toHaveProperty('account');
    // All of them ended with the first that was used.
    expect(await sendSignUpAgain(accounts, tenant, { pending: again })).toBe(again);
    expect(await server.mails()).toEqual([]);
  });

  test('is not sent again for what names no sign-up, another tenant, or too often', async () => {
    const tenant = await server.open();
    await server.mails();
    const signedUp = await signUp(accounts, tenant, { email: 'often@example.org', password });
    if (signedUp.status !== 'check_mail') throw new Error(signedUp.status);
    const { pending } = signedUp;
    for (const other of ['', 'x', 'A'.repeat(43)]) {
      expect(await sendSignUpAgain(accounts, tenant, { pending: other })).toBe(other);
    }
    expect(await sendSignUpAgain(accounts, await server.open(), { pending })).toBe(pending);
    for (let i = 0; i < limits.accountMailsFreeMax + 1; i++) await sendSignUpAgain(accounts, tenant, { pending });
    expect(await server.mails()).toHaveLength(limits.accountMailsFreeMax);
  });
});
