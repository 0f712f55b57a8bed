/** Texts of the pages for members, who administer tenants. */
export const enMembers = {
  roles: {
    'security-admin': { name: 'Security admin', text: 'manages members, clients and everything else' },
    'config-editor': { name: 'Config editor', text: 'changes policies, types and consent definitions' },
    'config-viewer': { name: 'Config viewer', text: 'reads the configuration' },
    support: { name: 'Support', text: 'answers questions of users, and sees masked data' },
  },
  logInLink: {
    title: 'Log in to the portal',
    text: 'This link logs you in as the first security admin of its tenant. It works once, for 15 minutes after it was printed.',
    code: 'The code of the link: the part behind #',
    logIn: 'Log in',
    gone: 'This link was used, has expired or was replaced by a newer one.',
    another: 'This command prints another one, where Accord runs:',
  },
  logInFirst: {
    title: 'The first time here?',
    link: 'Accord runs on your machine. There, this command prints a link that logs you in as the first security admin:',
    invitation:
      'Members get in by the link of their invitation. Whoever runs Accord has the link of a tenant’s first security admin.',
  },
  portalNotice: {
    buildingTitle: 'The portal is being built',
    buildingText: 'This takes some seconds. The page appears by itself.',
    missingTitle: 'The portal is not built',
    failedTitle: 'The portal was not built',
    build: 'Run this command where Accord is installed, and then load this page again:',
    output: 'What the command said',
  },
  memberInvitation: {
    title: (tenant: string) => `You are invited to ${tenant}`,
    lead: 'You would help to administer it, with an account of the portal.',
    address: 'For',
    role: 'As',
    expires: (when: string) => `The link works once, until ${when}.`,
    later: 'Not now',
    laterTitle: 'Nothing was decided',
    laterText: 'Open the link again when you want to accept.',
  },
};
