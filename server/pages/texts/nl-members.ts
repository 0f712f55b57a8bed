import type { enMembers } from './en-members.ts';

export const nlMembers: typeof enMembers = {
  roles: {
    'security-admin': { name: 'Security admin', text: 'beheert leden, clients en al het andere' },
    'config-editor': { name: 'Config editor', text: 'wijzigt policies, types en consent-definities' },
    'config-viewer': { name: 'Config viewer', text: 'leest de configuratie' },
    support: { name: 'Support', text: 'beantwoordt vragen van gebruikers, en ziet afgeschermde gegevens' },
  },
  logInLink: {
    title: 'Inloggen bij het portaal',
    text: 'Met deze link log je in als de eerste security admin van de tenant. Hij werkt één keer, tot 15 minuten nadat hij werd getoond.',
    code: 'De code van de link: het deel achter #',
    logIn: 'Inloggen',
    gone: 'Deze link is gebruikt, verlopen of door een nieuwere vervangen.',
    another: 'Deze opdracht toont een nieuwe, waar Accord draait:',
  },
  logInFirst: {
    title: 'Voor het eerst hier?',
    link: 'Accord draait op je eigen machine. Deze opdracht toont daar een link waarmee je inlogt als de eerste security admin:',
    invitation:
      'Leden komen binnen met de link van hun uitnodiging. Wie Accord beheert, heeft de link van de eerste security admin van een tenant.',
  },
  portalNotice: {
    buildingTitle: 'Het portaal wordt gebouwd',
    buildingText: 'Dit duurt enkele seconden. De pagina verschijnt vanzelf.',
    missingTitle: 'Het portaal is niet gebouwd',
    failedTitle: 'Het portaal kon niet worden gebouwd',
    build: 'Voer deze opdracht uit waar Accord is geïnstalleerd, en laad deze pagina dan opnieuw:',
    output: 'Wat de opdracht meldde',
  },
  memberInvitation: {
    title: (tenant) => `Je bent uitgenodigd voor ${tenant}`,
    lead: 'Je zou helpen het te beheren, met een account van het portaal.',
    address: 'Voor',
    role: 'Als',
    expires: (when) => `De link werkt één keer, tot ${when}.`,
    later: 'Nu niet',
    laterTitle: 'Er is niets besloten',
    laterText: 'Open de link opnieuw als je wilt aannemen.',
  },
};
