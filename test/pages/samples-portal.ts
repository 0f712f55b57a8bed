import {
  type Language,
  logInLinkPage,
  logInPage,
  memberInvitationLaterPage,
  memberInvitationPage,
  type PageContext,
} from '../../server/pages/index.ts';
import { form, type Sample } from './sample-context.ts';

const contextOf = (language: Language): PageContext => ({ brand: { name: 'Accord' }, language, basePath: '' });
const memberInvitation = {
  tenant: 'Patient Portal of the Northern Clinics',
  email: 'bob.van.der.meer-hoogenboom@carshare.example',
  role: 'security-admin',
  expiresAt: '2026-12-01T12:00:00Z',
  decide: form,
  logInUrl: '/log-in',
  signUpUrl: '/sign-up',
} as const;

export const portalSamples: Readonly<Record<string, Sample>> = {
  'portal-log-in': (language) =>
    logInPage(contextOf(language), {
      ...form,
      resetUrl: '/reset',
      passkeyUrl: '/passkey',
      firstTime: { command: 'npx accord log-in' },
    }),
  // As docs/members.md has it.
  'portal-invitation': (language) =>
    memberInvitationPage(contextOf(language), { ...memberInvitation, tenant: 'A team', email: 'ann@team.example' }),
  'portal-invitation-later': (language) => memberInvitationLaterPage(contextOf(language), memberInvitation),
  'portal-invitation-own': (language) =>
    memberInvitationPage(contextOf(language), { ...memberInvitation, account: { email: memberInvitation.email } }),
  'portal-invitation-other': (language) =>
    memberInvitationPage(contextOf(language), { ...memberInvitation, account: { email: 'alice@example.com' } }),
  'portal-log-in-link': (language) => logInLinkPage(contextOf(language), { action: '/link', isGone: false }),
  'portal-log-in-link-gone': (language) => logInLinkPage(contextOf(language), { action: '/link', isGone: true }),
};
