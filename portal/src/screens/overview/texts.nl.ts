import { plural } from '../../core/texts.ts';
import type { Texts } from './texts.en.ts';

const people = (count: number) => plural('nl', count, { one: '# persoon', other: '# personen' });

export const nl = {
  title: 'Overzicht',
  about: 'Wat er nu in deze tenant gebeurt, en wat aandacht vraagt.',

  whatTitle: 'Wat Accord beantwoordt',
  what: 'Accord beantwoordt één vraag van uw applicaties: mag dit subject dit nu doen met die resource? Policy’s beslissen. Ze kijken wie wat met wie deelt, en waarmee gebruikers hebben ingestemd.',
  decides: 'Deze tenant beslist over:',
  allPolicies: 'Alle policy’s',
  asked: (subject, action, resource) =>
    `Mag ${subject === '' ? 'iemand' : subject} ${action} doen${resource === '' ? '' : ` op ${resource}`}?`,
  why: 'Bekijk waarom',
  tryIt: (policy) => `Stel ${policy} een vraag, en zie waarom het antwoord zo is`,

  attention: 'Wat aandacht vraagt',
  nothing: 'Er is nu niets dat aandacht vraagt.',
  nothingConfigured: 'In de configuratie is nu niets dat aandacht vraagt.',
  noRecords: 'Uw rol toont de configuratie. Wat gebruikers doen, zien andere rollen.',
  needs: {
    manifest_failed: ({ subject, reason }) =>
      `Herstel ${subject}: het is niet geaccepteerd${reason}. Wat eerder geaccepteerd was, blijft van kracht.`,
    deletion_held: ({ subject, reason }) =>
      `Beslis over ${subject}: het moet worden verwijderd, en dat wordt tegengehouden${reason}.`,
    subscription_disabled: ({ subject, reason }) =>
      `Zet het abonnement ${subject} weer aan: zijn endpoint faalde${reason}. De gebeurtenissen zijn bewaard.`,
    key_rotation: ({ subject, until }) => `Verwacht een nieuwe sleutel (${subject}): hij tekent ${until}.`,
    grace_ending: ({ count, subject, until }) =>
      `Herinner ${people(count)}: de overgangstijd voor ${subject} loopt af, voor de eerste ${until}.`,
    invitations_unanswered: ({ count, until }) =>
      `Herinner wie is uitgenodigd: ${plural('nl', count, { one: '# uitnodiging is', other: '# uitnodigingen zijn' })} drie dagen of langer onbeantwoord. De eerste eindigt ${until}.`,
  },

  lastDay: 'De laatste 24 uur',
  decisions: 'Beslissingen',
  outcomes: { allow: 'allow', deny: 'deny', other: 'anders' },
  decisionLogs: {
    off: 'Het beslissingslog staat uit: beslissingen worden beantwoord, maar niet geteld en later niet uitgelegd. De decisionLog van de Tenant zet het aan.',
    denies: 'Het beslissingslog bewaart alleen weigeringen: wat werd toegestaan, is niet geteld.',
    sampled: 'Het beslissingslog bewaart een steekproef.',
    all: '',
  },
  sharing: 'Delen',
  invited: { created: 'uitgenodigd', accepted: 'aanvaard' },
  related: { created: 'verbonden', ended: 'beëindigd' },
  consents: 'Toestemmingen',
  agreed: { registered: 'gegeven', revoked: 'ingetrokken', refused: 'geweigerd' },
  deliveries: 'Bezorging van gebeurtenissen',
  delivered: { delivered: 'bezorgd', failed: 'mislukt' },
  countedSince: 'Het zijn er veel: geteld sinds',
  denies: 'Geweigerd, per reden',
  reason: 'Reden',
  noReason: 'de policy gaf geen reden',
  count: 'Beslissingen',

  begin: 'Vijf stappen',
  beginAbout: (done) => `${done} van 5 gedaan. Elke stap wordt afgevinkt zodra hij gebeurd is.`,
  done: (title) => `Gedaan: ${title}`,
  command: 'Met een commando',
  steps: {
    policy: {
      title: 'Schrijf de eerste policy',
      about: 'Die zegt wie wat mag, in Rego of als tekening.',
      page: 'Schrijf hem hier',
    },
    decision: {
      title: 'Vraag de eerste beslissing',
      about: 'Een back-end vraagt met een token met de scope authz:evaluate. Een test in de editor telt niet.',
      page: '',
    },
    relationship: {
      title: 'Maak de eerste relatie',
      about: 'Zoals: alice leest document 1. Policy’s lezen ze. Eerst komen de typen, in Model.',
      page: 'Maak hem hier',
    },
    invitation: {
      title: 'Verstuur de eerste uitnodiging',
      about: 'Gebruikers delen wat ze hebben met een uitnodiging. Wie aanvaardt, krijgt de relatie.',
      page: '',
    },
    consent: {
      title: 'Registreer de eerste toestemming',
      about:
        'Leg vast waarmee gebruikers worden gevraagd in te stemmen. Hun antwoorden staan in een ledger dat elke wijziging toont.',
      page: 'Leg het hier vast',
    },
  },
} satisfies Texts;
