import {
  accountPage,
  checkMailPage,
  confirmPage,
  deviceCodePage,
  deviceConfirmPage,
  deviceDonePage,
  emailVerifiedPage,
  type InvitationProps,
  invitationDonePage,
  invitationPage,
  namePage,
  openInvitationPage,
  passkeyPage,
  resetDonePage,
  resetPage,
  resetRequestPage,
  verifyEmailPage,
} from '../../server/pages/index.ts';
import { contextOf, form, type Sample } from './sample-context.ts';

const email = 'alice@example.com';
const invitation: InvitationProps = {
  from: 'Bob de Vries',
  what: 'Car 7 (Volvo, 12-AB-34)',
  as: 'Driver',
  expiresAt: '2026-12-01T12:00:00Z',
  relationshipExpiresAt: '2027-06-30T22:00:00Z',
  decide: form,
  logInUrl: '/log-in',
  signUpUrl: '/sign-up',
};

export const accountSamples: Readonly<Record<string, Sample>> = {
  'check-mail': (language) =>
    checkMailPage(contextOf(language), {
      purpose: 'verify',
      email,
      resend: { ...form, pending: 'p' },
      logInUrl: '/log-in',
    }),
  'check-mail-reset': (language) =>
    checkMailPage(contextOf(language), { purpose: 'reset', email, resend: form, wasResent: true }),
  verify: (language) => verifyEmailPage(contextOf(language), { ...form, token: 't', email, startUrl: '/account' }),
  'verify-wrong': (language) =>
    verifyEmailPage(contextOf(language), {
      ...{ ...form, token: 't', email, startUrl: '/account' },
      ...{ problem: 'wrong', retryAfterSeconds: 61 },
    }),
  verified: (language) => emailVerifiedPage(contextOf(language), { ...form, proof: 'p' }),
  'reset-done': (language) => resetDonePage(contextOf(language), { logInUrl: '/log-in' }),
  'reset-request': (language) =>
    resetRequestPage(contextOf(language), {
      ...form,
      errors: { email: 'email_invalid' },
      email: 'alice',
      logInUrl: '/l',
    }),
  reset: (language) => resetPage(contextOf(language), { ...form, token: 't', email, passwordCharsMin: 10 }),
  passkey: (language) =>
    passkeyPage(contextOf(language), {
      ...form,
      mode: 'log-in',
      options: { challenge: 'AAAA', rpId: 'localhost', userVerification: 'required' },
      otherWayUrl: '/log-in',
    }),
  'passkey-new': (language) =>
    passkeyPage(contextOf(language), {
      ...form,
      mode: 'register',
      options: {
        challenge: 'AAAA',
        rp: { id: 'localhost', name: 'Carshare' },
        user: { id: 'YQ', name: email, displayName: 'Alice' },
        pubKeyCredParams: [-7, -257].map((alg) => ({ type: 'public-key', alg })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      },
      otherWayUrl: '/account',
    }),
  name: (language) => namePage(contextOf(language), { ...form, kind: 'own', name: 'Alice', cancelUrl: '/account' }),
  'name-of-passkey': (language) =>
    namePage(contextOf(language), {
      ...{ ...form, kind: 'passkey', id: 'k', name: '', cancelUrl: '/account' },
      errors: { name: 'name_required' },
    }),
  device: (language) =>
    deviceCodePage(contextOf(language), {
      action: '/device',
      fields: { xsrf: 'x' },
      error: 'user_code_unknown',
      userCode: 'WDJB-MJHT',
    }),
  'device-confirm': (language) =>
    deviceConfirmPage(contextOf(language), {
      action: '/device',
      fields: { xsrf: 'x', user_code: 'WDJB-MJHT', confirm: 'yes' },
      clientName: 'Living-room screen',
      userCode: 'WDJB-MJHT',
      scopes: [{ name: 'openid' }, { name: 'profile' }],
    }),
  'device-done': (language) => deviceDonePage(contextOf(language), { isConnected: true }),
  'device-denied': (language) => deviceDonePage(contextOf(language), { isConnected: false }),
  confirm: (language) =>
    confirmPage(contextOf(language), {
      ...form,
      kind: 'share',
      subject: 'Car 7 → Bob de Vries',
      id: '1',
      cancelUrl: '/account',
    }),
  account: (language) =>
    accountPage(contextOf(language), {
      csrf: form.csrf,
      account: { email, emailVerified: true, displayName: 'Alice Jansen' },
      nameUrl: '/account/name',
      logOutAction: '/log-out',
      shares: {
        action: '/shares',
        items: [
          {
            id: '1',
            with: 'Bob de Vries',
            what: 'Car 7 (Volvo, 12-AB-34)',
            as: 'Driver',
            since: '2026-03-01T10:00:00Z',
            until: '2027-06-30T22:00:00Z',
          },
          {
            ...{ id: '3', with: 'c***@example.com', what: 'Car 7 (Volvo, 12-AB-34)', as: 'Driver', isInvited: true },
            ...{ since: '2026-11-20T10:00:00Z', until: '2026-11-27T10:00:00Z' },
          },
        ],
      },
      relationships: {
        action: '/relationships',
        items: [
          { id: '1', what: 'Car 7 (Volvo, 12-AB-34)', as: 'is_owner_of', canEnd: false },
          { id: '2', what: 'Bike 2', as: 'rides', until: '2027-06-30T22:00:00Z', canEnd: true },
        ],
      },
      consents: {
        action: '/consents',
        items: [
          {
            ...{ id: 'trip-data', name: 'Use of trip data', version: '2', since: '2026-02-02T08:00:00Z' },
            textUrl: '/consents/documents/trip-data',
          },
        ],
      },
      clients: {
        action: '/clients',
        items: [
          {
            id: 'trips',
            name: 'Trip Planner',
            scopes: [{ name: 'openid' }, { name: 'email' }],
            since: '2026-02-02T08:00:00Z',
          },
        ],
      },
      sessions: {
        action: '/sessions',
        endOthersAction: '/sessions/others',
        items: [
          {
            id: 'a',
            device: { browser: 'Firefox', system: 'Linux' },
            since: '2026-11-20T10:00:00Z',
            lastUsed: '2026-11-23T06:00:00Z',
            isCurrent: true,
          },
          { id: 'b', device: { browser: 'Safari', system: 'iPhone' }, since: '2026-10-01T10:00:00Z', isCurrent: false },
        ],
      },
      passkeys: {
        action: '/passkeys',
        addUrl: '/passkeys/new',
        items: [
          {
            id: 'k',
            name: 'Phone',
            renameUrl: '/passkeys/name?id=k',
            since: '2026-05-01T10:00:00Z',
            lastUsed: '2026-11-21T07:00:00Z',
          },
        ],
      },
      logIns: {
        action: '/log-ins',
        linkAction: '/log-ins/link',
        available: [{ id: 'acme', name: 'Acme Works' }],
        items: [],
      },
      password: { action: '/password', hasPassword: true, passwordCharsMin: 10 },
    }),
  'account-wrong': (language) =>
    accountPage(contextOf(language), {
      csrf: form.csrf,
      account: { email, emailVerified: false },
      logOutAction: '/log-out',
      sessions: { action: '/sessions', items: [] },
      password: {
        ...{ action: '/password', hasPassword: true, passwordCharsMin: 10 },
        errors: { currentPassword: 'password_wrong' },
      },
    }),
  'account-again': (language) =>
    accountPage(contextOf(language), {
      csrf: form.csrf,
      account: { email, emailVerified: true },
      notice: 'ended',
      logOutAction: '/log-out',
      shares: {
        action: '/shares',
        items: [
          { id: '2', with: `auth0|${'7c9e6679f3b14d8e'.repeat(4)}`, what: 'Household', since: '2026-01-05T09:12:00Z' },
        ],
      },
      sessions: {
        action: '/sessions',
        items: [{ id: 'a', device: {}, since: '2026-11-20T10:00:00Z', isCurrent: true }],
      },
      password: { logInUrl: '/log-in', hasPassword: false },
    }),
  'invitation-open': (language) => openInvitationPage(contextOf(language), form),
  invitation: (language) => invitationPage(contextOf(language), invitation),
  'invitation-account': (language) =>
    invitationPage(contextOf(language), { ...invitation, account: { email }, otherAccountAction: '/other' }),
  'invitation-other-address': (language) =>
    invitationPage(contextOf(language), {
      ...invitation,
      account: { email },
      boundTo: 'c•••@example.com',
      otherAccountAction: '/other',
    }),
  'invitation-accepted': (language) =>
    invitationDonePage(contextOf(language), {
      outcome: 'accepted',
      what: invitation.what,
      continueUrl: 'https://carshare.example/',
      accountUrl: '/account',
    }),
  'invitation-declined': (language) =>
    invitationDonePage(contextOf(language), { outcome: 'declined', what: invitation.what }),
};
