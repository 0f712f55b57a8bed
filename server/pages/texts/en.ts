import { limits } from '../../core/limits.ts';
import { enAccount } from './en-account.ts';
import { enMembers } from './en-members.ts';

export const en = {
  name: 'English',
  common: {
    language: 'Language',
    privacy: 'Privacy',
    terms: 'Terms',
    support: 'Help',
    errorPrefix: 'Error',
    problems: 'There is a problem',
    optional: '(optional)',
    continue: 'Continue',
    back: 'Back',
    cancel: 'Cancel',
    or: 'or',
    backToLogIn: 'Back to log-in',
  },
  errors: {
    email_required: 'Enter your email address.',
    email_invalid: 'Enter an email address such as name@example.com.',
    display_name_invalid: `Use one line of at most ${limits.accountNameCharsMax} characters.`,
    password_required: 'Enter a password.',
    password_too_short: `This password is too short. Use at least ${limits.passwordCharsMin} characters.`,
    password_too_long: `This password is too long. Use at most ${limits.passwordBytesMax} characters, and fewer where they have accents or are not Latin.`,
    password_too_common: 'This password is too well known. Choose another one.',
    password_like_account: 'This password is too similar to your name or address.',
    password_wrong: 'This password is not right.',
    invitation_code_invalid: 'This code is not complete. Copy all that stands behind # in the link.',
    user_code_required: 'Enter the code that your device shows.',
    user_code_unknown: 'No device is waiting with this code. Check the code on your device.',
    user_code_expired: 'This code has expired. Ask your device for a new one.',
    user_code_again: 'The page that you sent was not the latest one. Enter the code again.',
    name_required: 'Enter a name.',
    passkey_name_invalid: `Use one line of at most ${limits.passkeyNameCharsMax} characters.`,
  },
  fields: {
    email: 'Email address',
    password: 'Password',
    newPassword: 'New password',
    displayName: 'Your name',
    passwordHint: (min: number) =>
      `At least ${min} characters. A few unrelated words are easy to remember and hard to guess.`,
  },
  redirect: {
    title: 'One moment',
    text: 'You are being taken back.',
    to: (name: string) => `You are being taken to ${name}.`,
  },
  logIn: {
    title: 'Log in',
    lead: (client: string) => `to go on to ${client}`,
    submit: 'Log in',
    passkey: 'Log in with a passkey',
    upstream: (name: string) => `Continue with ${name}`,
    forgot: 'Forgot your password?',
    noAccount: 'No account yet?',
    signUp: 'Create an account',
    cancel: (client: string) => `Cancel and go back to ${client}`,
    problems: {
      credentials: 'The address or the password is not right. Check both, or reset your password.',
      upstream_failed: 'Logging in there did not work. Try again, or log in another way.',
      upstream_unavailable: 'That log-in cannot be reached now. Try again later, or log in another way.',
      upstream_cancelled: 'You did not log in there. Try again, or log in another way.',
      upstream_stale: 'This needs a new log-in, and you were not asked again there. Log in another way.',
      upstream_gone: 'That log-in is not offered any more. Log in another way.',
      upstream_unverified:
        'Your email address is not confirmed there. Confirm it there and try again, or log in another way.',
      upstream_closed:
        'No account here belongs to that log-in, and accounts are made by invitation only. Ask for an invitation, or log in another way.',
      upstream_no_access:
        'That log-in does not give access here. Log in another way, or ask for help where you got it.',
    },
    retry: (seconds: number) => {
      if (seconds < 60) return seconds === 1 ? 'Try again in 1 second.' : `Try again in ${seconds} seconds.`;
      const minutes = Math.ceil(seconds / 60);
      return minutes === 1 ? 'Try again in 1 minute.' : `Try again in ${minutes} minutes.`;
    },
    notices: {
      password_changed: 'Your password was changed. Log in with the new one.',
      email_verified: 'Your email address is confirmed. You can log in now.',
      again: 'Log in again to confirm that it is you.',
      link: 'There is an account with your email address. Log in to it once: from then on, your other log-in leads to it as well.',
      finish: 'Log in once with the password that you chose, to finish your account.',
    },
  },
  signUp: {
    title: 'Create your account',
    submit: 'Create account',
    emailHint: 'We send a message there to confirm that it is yours.',
    emailFixed: 'This is the address that was invited.',
    displayNameHint: 'Others see it when you share something with them.',
    haveAccount: 'Already have an account?',
    logIn: 'Log in',
  },
  consent: {
    title: (client: string) => `${client} asks for access`,
    account: 'Logged in as',
    may: (client: string) => `${client} would be able to:`,
    revoke: 'You can take this back at any time on your account page.',
    leads: (host: string) => `You will be taken to ${host}.`,
    allow: 'Allow',
    deny: 'Do not allow',
  },
  scopes: {
    openid: 'Know who you are',
    profile: 'See your name',
    email: 'See your email address',
    address: 'See your postal address',
    phone: 'See your phone number',
    offline_access: 'Keep this access while you are away',
    relationships: 'See your relationships: what you have, use or share',
    consents: 'See what you consented to',
    'urn:accord:act': 'Act for you here: see and change what you share, and what you consent to',
  },
  loggedOut: {
    title: 'You are logged out',
    text: 'If others use this device too, close the browser.',
    logIn: 'Log in again',
    back: (client: string) => `Back to ${client}`,
  },
  logout: {
    title: 'Log out?',
    text: (name: string) => `You will be logged out of ${name} on this device.`,
    client: (client: string) => `${client} asks for it.`,
    yes: 'Log out',
    no: 'Stay logged in',
  },
  errorPage: {
    kinds: {
      invalid_request: {
        title: 'This cannot be done',
        text: 'The application sent a request that is not valid. Go back to it and try again. If that does not help, tell the people who run it.',
      },
      expired: {
        title: 'This page has expired',
        text: 'It was open for too long, or you have finished already. Go back to the application and start again.',
      },
      forged: {
        title: 'The form could not be accepted',
        text: 'It did not come from a page that this browser has open. Allow cookies for this site, then go back and try again.',
      },
      link_invalid: {
        title: 'This link does not work any more',
        text: 'It has expired or was used already. Ask for a new one.',
      },
      not_found: { title: 'There is nothing here', text: 'Check the address, or go back to where you came from.' },
      too_many: { title: 'Too many attempts', text: 'Wait a few minutes, then try again.' },
      access_denied: {
        title: 'You have no access',
        text: 'Your account may not do this. Ask somebody who administers it.',
      },
      unavailable: {
        title: 'This does not work right now',
        text: 'Something went wrong on our side, and nothing was changed. Try again in a moment.',
      },
    },
    code: 'Error',
    requestId: 'Reference',
    details: 'Details for support',
    back: (client: string) => `Back to ${client}`,
  },
  ...enAccount,
  ...enMembers,
};
