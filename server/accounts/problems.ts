import { defineProblems } from '../core/problems.ts';

export const accountProblem = defineProblems({
  account_not_found: { status: 404, title: 'Account not found', when: 'The tenant has no such account.' },
  password_too_short: {
    status: 400,
    title: 'Password too short',
    when: 'A password must have at least 8 characters.',
  },
  password_too_long: {
    status: 400,
    title: 'Password too long',
    when: 'A password can have at most 256 bytes in UTF-8.',
  },
  password_too_common: {
    status: 400,
    title: 'Password too common',
    when: 'The password is one of the first that attackers try.',
  },
  password_like_account: {
    status: 400,
    title: 'Password too close to the account',
    when: 'Besides the name of the tenant and parts of the address, a password must have at least 8 characters.',
  },
  passwords_busy: {
    status: 503,
    title: 'Too many log-ins at once',
    when: 'More passwords of the tenant wait to be verified than the server takes on.',
    retryAfterSeconds: 2,
  },
  account_mails_limited: {
    status: 429,
    title: 'Too many mails',
    when: 'Too many mails for sign-up and for new passwords were asked for from this network.',
    retryAfterSeconds: 60,
  },
  sign_up_closed: {
    status: 403,
    title: 'Sign-up closed',
    when: 'The tenant lets nobody sign up, or only by an invitation to the address (spec.login.selfRegistration).',
  },
  account_link_gone: {
    status: 410,
    title: 'Link no longer valid',
    when: 'The link of the mail was used, has expired, or was replaced by a later one. Ask for another.',
  },
  passkey_refused: {
    status: 400,
    title: 'Passkey refused',
    when: 'The response of the authenticator is not valid for this request, or was used before.',
  },
  passkey_not_found: { status: 404, title: 'Passkey not found', when: 'The account has no such passkey.' },
  passkey_quota_reached: {
    status: 409,
    title: 'Too many passkeys',
    when: 'The account has the maximum number of passkeys. Remove one before adding another.',
  },
  identity_not_found: { status: 404, title: 'Linked log-in not found', when: 'The account has no such linked log-in.' },
  identity_linked: {
    status: 409,
    title: 'Log-in already linked',
    when: 'This log-in of the issuer belongs to another account.',
  },
  identity_quota_reached: {
    status: 409,
    title: 'Too many linked log-ins',
    when: 'The account has the maximum number of linked log-ins.',
  },
  last_login_method: {
    status: 409,
    title: 'Last way to log in',
    when: 'The account has no other way to log in: no password, passkey or linked log-in.',
  },
});
