import {
  invitationsPage,
  invitedPage,
  invitePage,
  type Language,
  logInPage,
  memberInvitationLaterPage,
  memberInvitationPage,
  membersPage,
  type PageContext,
  type PortalFrame,
  tenantChoicePage,
  tokensPage,
} from '../../server/pages/index.ts';
import { form, type Sample } from './sample-context.ts';

const contextOf = (language: Language): PageContext => ({ brand: { name: 'Accord' }, language, basePath: '' });
const frame = (current: PortalFrame['current']): PortalFrame => ({
  csrf: form.csrf,
  email: 'alice@example.com',
  tenant: { code: 'northern-clinics', name: memberInvitation.tenant },
  logOutAction: '/portal/log-out',
  current,
  urls: { members: '/m', invitations: '/i', tokens: '/t', tenants: '/portal' },
});

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
    logInPage(contextOf(language), { ...form, resetUrl: '/reset', passkeyUrl: '/passkey' }),
  'portal-invitation': (language) => memberInvitationPage(contextOf(language), memberInvitation),
  'portal-invitation-later': (language) => memberInvitationLaterPage(contextOf(language), memberInvitation),
  'portal-invitation-own': (language) =>
    memberInvitationPage(contextOf(language), { ...memberInvitation, account: { email: memberInvitation.email } }),
  'portal-invitation-other': (language) =>
    memberInvitationPage(contextOf(language), { ...memberInvitation, account: { email: 'alice@example.com' } }),
  'portal-tenants': (language) =>
    tenantChoicePage(contextOf(language), {
      logOut: form,
      tenants: [
        { code: 'carshare', name: 'Carshare', role: 'security-admin', url: '/portal/carshare' },
        {
          code: 'clinic',
          name: 'Patient Portal of the Northern Clinics',
          role: 'config-viewer',
          url: '/portal/clinic',
        },
      ],
    }),
  'portal-members': (language) =>
    membersPage(contextOf(language), {
      frame: frame('members'),
      removeAction: '/m/remove',
      inviteUrl: '/i/new',
      members: [
        { id: '1', email: 'alice@example.com', role: 'security-admin', createdAt: '2026-01-05T09:12:00Z', isYou: true },
        {
          id: '2',
          email: 'bob.van.der.meer-hoogenboom@carshare.example',
          role: 'config-editor',
          createdAt: '2026-03-05T09:12:00Z',
          isYou: false,
        },
        { id: '3', email: 'desk@example.com', role: 'support', createdAt: '2026-03-05T09:12:00Z', isYou: false },
      ],
    }),
  'portal-invite': (language) =>
    invitePage(contextOf(language), {
      frame: frame('invitations'),
      action: '/i',
      roles: ['security-admin', 'config-editor', 'config-viewer', 'support'],
      errors: { email: 'email_required', role: 'role_required' },
    }),
  'portal-invited': (language) =>
    invitedPage(contextOf(language), {
      frame: frame('invitations'),
      email: 'bob@example.com',
      url: `https://accord.example/portal/invitations#${'x7Qz'.repeat(11)}`,
    }),
  'portal-invitations': (language) =>
    invitationsPage(contextOf(language), {
      frame: frame('invitations'),
      withdrawAction: '/i/withdraw',
      inviteUrl: '/i/new',
      invitations: [
        {
          id: '1',
          email: 'bob@example.com',
          role: 'config-editor',
          status: 'pending',
          expiresAt: '2026-12-01T12:00:00Z',
        },
        { id: '2', email: 'carol@example.com', role: 'support', status: 'used', expiresAt: '2026-12-01T12:00:00Z' },
      ],
    }),
  'portal-tokens': (language) =>
    tokensPage(contextOf(language), {
      frame: frame('tokens'),
      createAction: '/t',
      revokeAction: '/t/revoke',
      created: {
        token: `eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.${'eyJpc3MiOiJodHRwczovL2FjY29yZC5leGFtcGxlIn0'.repeat(9)}.x`,
        expiresAt: '2026-11-24T06:00:00Z',
        command: `curl https://accord.example/tenants/carshare/policies \\\n  -H "Authorization: Bearer $TOKEN"`,
      },
      tokens: [
        {
          jti: '0f8fad5b-d9cb-469f-a165-70867728950e',
          createdAt: '2026-11-23T06:00:00Z',
          expiresAt: '2026-11-24T06:00:00Z',
          isRevoked: false,
        },
        {
          jti: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
          createdAt: '2026-11-22T06:00:00Z',
          expiresAt: '2026-11-23T06:00:00Z',
          isRevoked: true,
        },
      ],
    }),
  'portal-tokens-again': (language) =>
    tokensPage(contextOf(language), {
      frame: frame('tokens'),
      createAction: '/t',
      revokeAction: '/t/revoke',
      logInAgainUrl: '/log-in',
      tokens: [],
    }),
};
