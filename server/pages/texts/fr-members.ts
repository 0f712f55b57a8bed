import type { enMembers } from './en-members.ts';

export const frMembers: typeof enMembers = {
  roles: {
    'security-admin': { name: 'Security admin', text: 'gère les membres, les clients et tout le reste' },
    'config-editor': {
      name: 'Config editor',
      text: 'modifie les policies, les types et les définitions de consentement',
    },
    'config-viewer': { name: 'Config viewer', text: 'lit la configuration' },
    support: { name: 'Support', text: 'répond aux questions des utilisateurs, et voit des données masquées' },
  },
  logInLink: {
    title: 'Se connecter au portail',
    text: 'Ce lien vous connecte en tant que premier security admin de son tenant. Il fonctionne une fois, pendant 15 minutes après son affichage.',
    code: 'Le code du lien : la partie après #',
    logIn: 'Se connecter',
    gone: 'Ce lien a été utilisé, a expiré ou a été remplacé par un plus récent.',
    another: 'Cette commande en affiche un autre, là où Accord fonctionne :',
  },
  logInFirst: {
    title: 'Première visite ?',
    link: 'Accord fonctionne sur votre machine. Cette commande y affiche un lien qui vous connecte en tant que premier security admin :',
    invitation:
      'Les membres entrent par le lien de leur invitation. La personne qui gère Accord a le lien du premier security admin d’un tenant.',
  },
  portalNotice: {
    buildingTitle: 'Le portail est en cours de construction',
    buildingText: 'Cela prend quelques secondes. La page apparaît d’elle-même.',
    missingTitle: 'Le portail n’est pas construit',
    failedTitle: 'Le portail n’a pas pu être construit',
    build: 'Exécutez cette commande là où Accord est installé, puis rechargez cette page :',
    output: 'Ce que la commande a indiqué',
  },
  memberInvitation: {
    title: (tenant) => `Vous êtes invité à ${tenant}`,
    lead: 'Vous aideriez à l’administrer, avec un compte du portail.',
    address: 'Pour',
    role: 'Comme',
    expires: (when) => `Le lien fonctionne une fois, jusqu’au ${when}.`,
    later: 'Pas maintenant',
    laterTitle: 'Rien n’a été décidé',
    laterText: 'Ouvrez le lien à nouveau quand vous voudrez accepter.',
  },
};
