/** The words of the built-in mails. */
import type { MailLanguage } from './rules.ts';
import type { MailTemplate, ShownVariables } from './variables.ts';

/** Paragraphs before and behind the link, whose words are `button`. */
export type Body = { subject: string; before: readonly string[]; button: string; after: readonly string[] };
type Texts = { [Template in MailTemplate]: (variables: ShownVariables<Template>) => Body } & {
  foot: (application: string) => string;
  /** Who invites, where the tenant has stored no name. */
  somebody: string;
  unsubscribe: string;
  unsubscribed: string;
};

/** Of an invitation, where it is known what it shares: car (may use). */
const shared = (words: string, type: string, relationship: string): string[] =>
  type === '' ? [] : [`${words} ${relationship === '' ? type : `${type} (${relationship})`}.`];

const en: Texts = {
  'email-verification': ({ application, validHours }) => ({
    subject: `Confirm your email address for ${application}`,
    before: [`Open this link to confirm that this address is yours:`],
    button: 'Confirm the address',
    after: [
      `The link works once and expires in ${validHours} hours.`,
      `If you did not give this address to ${application}, do nothing: then nothing happens.`,
    ],
  }),
  'password-reset': ({ application, validMinutes }) => ({
    subject: `Choose a new password for ${application}`,
    before: [`Somebody asked to choose a new password for your account at ${application}. Open this link to do so:`],
    button: 'Choose a new password',
    after: [
      `The link works once and expires in ${validMinutes} minutes. You are then logged out everywhere.`,
      'If it was not you, do nothing: your password stays as it is.',
    ],
  }),
  'account-exists': ({ application }) => ({
    subject: `You already have an account at ${application}`,
    before: [
      `Somebody wanted to sign up at ${application} with this address, which has an account. Open this link to log in:`,
    ],
    button: 'Log in',
    after: ['If you do not know your password, choose a new one there. If it was not you, do nothing.'],
  }),
  'relationship-invitation': ({ application, name, relationship, type, expiresAt }) => ({
    subject: `${name} shares something with you at ${application}`,
    before: [
      `${name} invites you at ${application}.`,
      ...shared('What is shared:', type, relationship),
      'Open this link to see the invitation, and accept or decline it:',
    ],
    button: 'See the invitation',
    after: [`The invitation expires on ${expiresAt}.`],
  }),
  'portal-invitation': ({ application, role, expiresAt }) => ({
    subject: `You are invited to administer ${application}`,
    before: [`You are invited to ${application} as ${role}. Open this link to become a member:`],
    button: 'Become a member',
    after: [`The link works once and expires on ${expiresAt}. Do not pass it on.`],
  }),
  'consent-renewal': ({ application, consent, endsAt }) => ({
    subject: `Your consent at ${application} ends soon`,
    before: [
      `You gave ${application} your consent: ${consent}. It ends on ${endsAt}. Open this link to give it again, or to read what it is about:`,
    ],
    button: 'Read and decide',
    after: ['If you do nothing, your consent ends.'],
  }),
  'consent-receipt': ({ application, consent, registeredAt }) => ({
    subject: `Your consent at ${application}`,
    before: [
      `On ${registeredAt} you gave ${application} your consent: ${consent}. Keep this message: it is your receipt.`,
      'Open this link to read it again, or to withdraw it:',
    ],
    button: 'See your consents',
    after: ['If it was not you, open the link and withdraw the consent.'],
  }),
  somebody: 'Somebody',
  unsubscribe: 'Unsubscribe from messages like this one',
  unsubscribed: 'You will get no more messages like that one.',
  foot: (application) => `This message was sent for ${application}.`,
};

const nl: Texts = {
  'email-verification': ({ application, validHours }) => ({
    subject: `Bevestig je e-mailadres voor ${application}`,
    before: ['Open deze link om te bevestigen dat dit adres van jou is:'],
    button: 'Adres bevestigen',
    after: [
      `De link werkt één keer en verloopt over ${validHours} uur.`,
      `Heb je dit adres niet aan ${application} gegeven? Doe dan niets: er gebeurt niets.`,
    ],
  }),
  'password-reset': ({ application, validMinutes }) => ({
    subject: `Kies een nieuw wachtwoord voor ${application}`,
    before: [
      `Iemand heeft een nieuw wachtwoord gevraagd voor je account bij ${application}. Open deze link om er een te kiezen:`,
    ],
    button: 'Nieuw wachtwoord kiezen',
    after: [
      `De link werkt één keer en verloopt over ${validMinutes} minuten. Daarna ben je overal uitgelogd.`,
      'Was jij dit niet? Doe dan niets: je wachtwoord blijft zoals het is.',
    ],
  }),
  'account-exists': ({ application }) => ({
    subject: `Je hebt al een account bij ${application}`,
    before: [
      `Iemand wilde zich bij ${application} aanmelden met dit adres, dat al een account heeft. Open deze link om in te loggen:`,
    ],
    button: 'Inloggen',
    after: ['Weet je je wachtwoord niet meer? Kies daar een nieuw. Was jij dit niet? Doe dan niets.'],
  }),
  'relationship-invitation': ({ application, name, relationship, type, expiresAt }) => ({
    subject: `${name} deelt iets met je bij ${application}`,
    before: [
      `${name} nodigt je uit bij ${application}.`,
      ...shared('Wat er gedeeld wordt:', type, relationship),
      'Open deze link om de uitnodiging te bekijken, en om ze te aanvaarden of te weigeren:',
    ],
    button: 'Uitnodiging bekijken',
    after: [`De uitnodiging verloopt op ${expiresAt}.`],
  }),
  'portal-invitation': ({ application, role, expiresAt }) => ({
    subject: `Je bent uitgenodigd om ${application} te beheren`,
    before: [`Je bent bij ${application} uitgenodigd als ${role}. Open deze link om lid te worden:`],
    button: 'Lid worden',
    after: [`De link werkt één keer en verloopt op ${expiresAt}. Geef hem niet door.`],
  }),
  'consent-renewal': ({ application, consent, endsAt }) => ({
    subject: `Je toestemming bij ${application} loopt af`,
    before: [
      `Je gaf ${application} toestemming: ${consent}. Die eindigt op ${endsAt}. Open deze link om ze opnieuw te geven, of om te lezen waarover het gaat:`,
    ],
    button: 'Lezen en beslissen',
    after: ['Doe je niets, dan eindigt je toestemming.'],
  }),
  'consent-receipt': ({ application, consent, registeredAt }) => ({
    subject: `Je toestemming bij ${application}`,
    before: [
      `Op ${registeredAt} gaf je ${application} toestemming: ${consent}. Bewaar dit bericht: het is je bewijs.`,
      'Open deze link om ze nog eens te lezen, of om ze in te trekken:',
    ],
    button: 'Toestemmingen bekijken',
    after: ['Was jij dit niet? Open dan de link en trek de toestemming in.'],
  }),
  somebody: 'Iemand',
  unsubscribe: 'Afmelden voor dit soort berichten',
  unsubscribed: 'Je krijgt dit soort berichten niet meer.',
  foot: (application) => `Dit bericht is verzonden voor ${application}.`,
};

const fr: Texts = {
  'email-verification': ({ application, validHours }) => ({
    subject: `Confirmez votre adresse e-mail pour ${application}`,
    before: ['Ouvrez ce lien pour confirmer que cette adresse est la vôtre\u00a0:'],
    button: "Confirmer l'adresse",
    after: [
      `Le lien fonctionne une seule fois et expire dans ${validHours} heures.`,
      `Si vous n'avez pas donné cette adresse à ${application}, ne faites rien\u00a0: rien ne se passera.`,
    ],
  }),
  'password-reset': ({ application, validMinutes }) => ({
    subject: `Choisissez un nouveau mot de passe pour ${application}`,
    before: [
      `Quelqu'un a demandé un nouveau mot de passe pour votre compte chez ${application}. Ouvrez ce lien pour le choisir\u00a0:`,
    ],
    button: 'Choisir un nouveau mot de passe',
    after: [
      `Le lien fonctionne une seule fois et expire dans ${validMinutes} minutes. Vous serez ensuite déconnecté partout.`,
      "Si ce n'était pas vous, ne faites rien\u00a0: votre mot de passe reste inchangé.",
    ],
  }),
  'account-exists': ({ application }) => ({
    subject: `Vous avez déjà un compte chez ${application}`,
    before: [
      `Quelqu'un a voulu s'inscrire chez ${application} avec cette adresse, qui a déjà un compte. Ouvrez ce lien pour vous connecter\u00a0:`,
    ],
    button: 'Se connecter',
    after: [
      "Si vous ne connaissez plus votre mot de passe, choisissez-en un nouveau à cette page. Si ce n'était pas vous, ne faites rien.",
    ],
  }),
  'relationship-invitation': ({ application, name, relationship, type, expiresAt }) => ({
    subject: `${name} partage quelque chose avec vous chez ${application}`,
    before: [
      `${name} vous invite chez ${application}.`,
      ...shared('Ce qui est partagé\u00a0:', type, relationship),
      "Ouvrez ce lien pour voir l'invitation, et pour l'accepter ou la refuser\u00a0:",
    ],
    button: "Voir l'invitation",
    after: [`L'invitation expire le ${expiresAt}.`],
  }),
  'portal-invitation': ({ application, role, expiresAt }) => ({
    subject: `Vous êtes invité à administrer ${application}`,
    before: [`Vous êtes invité chez ${application} en tant que ${role}. Ouvrez ce lien pour devenir membre\u00a0:`],
    button: 'Devenir membre',
    after: [`Le lien fonctionne une seule fois et expire le ${expiresAt}. Ne le transmettez pas.`],
  }),
  'consent-renewal': ({ application, consent, endsAt }) => ({
    subject: `Votre consentement chez ${application} prend bientôt fin`,
    before: [
      `Vous avez donné votre consentement à ${application}\u00a0: ${consent}. Il prend fin le ${endsAt}. Ouvrez ce lien pour le donner à nouveau, ou pour lire de quoi il s'agit\u00a0:`,
    ],
    button: 'Lire et décider',
    after: ['Si vous ne faites rien, votre consentement prend fin.'],
  }),
  'consent-receipt': ({ application, consent, registeredAt }) => ({
    subject: `Votre consentement chez ${application}`,
    before: [
      `Le ${registeredAt}, vous avez donné votre consentement à ${application}\u00a0: ${consent}. Gardez ce message\u00a0: il vous sert de preuve.`,
      'Ouvrez ce lien pour le relire, ou pour le retirer\u00a0:',
    ],
    button: 'Voir vos consentements',
    after: ["Si ce n'était pas vous, ouvrez le lien et retirez le consentement."],
  }),
  somebody: "Quelqu'un",
  unsubscribe: 'Ne plus recevoir ce type de message',
  unsubscribed: 'Vous ne recevrez plus ce type de message.',
  foot: (application) => `Ce message a été envoyé pour ${application}.`,
};

export const texts: Record<MailLanguage, Texts> = { en, nl, fr };
