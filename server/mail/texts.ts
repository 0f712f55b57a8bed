/** The words of the built-in mails. */
import type { MailLanguage } from './rules.ts';
import type { MailTemplate, MailVariables } from './templates.ts';

/** Paragraphs before and behind the link, whose words are `button`. */
export type Body = { subject: string; before: readonly string[]; button: string; after: readonly string[] };
type Texts = { [Template in MailTemplate]: (variables: MailVariables[Template]) => Body } & {
  foot: (tenantName: string) => string;
};

/** The day and time of an instant, in words of the language and in UTC. */
const when = (instant: string, language: MailLanguage) =>
  new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(
    Date.parse(instant),
  );

const en: Texts = {
  'email-verification': ({ tenantName, validHours }) => ({
    subject: `Confirm your e-mail address for ${tenantName}`,
    before: [`Open this link to confirm that this address is yours:`],
    button: 'Confirm the address',
    after: [
      `The link works once and expires in ${validHours} hours.`,
      `If you did not give this address to ${tenantName}, do nothing: then nothing happens.`,
    ],
  }),
  'password-reset': ({ tenantName, validMinutes }) => ({
    subject: `Choose a new password for ${tenantName}`,
    before: [`Somebody asked to choose a new password for your account at ${tenantName}. Open this link to do so:`],
    button: 'Choose a new password',
    after: [
      `The link works once and expires in ${validMinutes} minutes. You are then logged out everywhere.`,
      'If it was not you, do nothing: your password stays as it is.',
    ],
  }),
  'account-exists': ({ tenantName }) => ({
    subject: `You already have an account at ${tenantName}`,
    before: [
      `Somebody wanted to sign up at ${tenantName} with this address, which has an account. Open this link to log in:`,
    ],
    button: 'Log in',
    after: ['If you do not know your password, choose a new one there. If it was not you, do nothing.'],
  }),
  'relationship-invitation': ({ tenantName, invitor, expiresAt }) => ({
    subject: `${invitor ?? 'Somebody'} shares something with you at ${tenantName}`,
    before: [
      `${invitor ?? 'Somebody'} invites you at ${tenantName}. Open this link to see what is shared, and accept or decline it:`,
    ],
    button: 'See the invitation',
    after: [`The invitation expires on ${when(expiresAt, 'en')} UTC.`],
  }),
  'portal-invitation': ({ tenantName, role, expiresAt }) => ({
    subject: `You are invited to administer ${tenantName}`,
    before: [`You are invited to ${tenantName} as ${role}. Open this link to become a member:`],
    button: 'Become a member',
    after: [`The link works once and expires on ${when(expiresAt, 'en')} UTC. Do not pass it on.`],
  }),
  foot: (tenantName) => `This message was sent for ${tenantName}. Nobody reads answers to it.`,
};

const nl: Texts = {
  'email-verification': ({ tenantName, validHours }) => ({
    subject: `Bevestig je e-mailadres voor ${tenantName}`,
    before: ['Open deze link om te bevestigen dat dit adres van jou is:'],
    button: 'Adres bevestigen',
    after: [
      `De link werkt één keer en verloopt over ${validHours} uur.`,
      `Heb je dit adres niet aan ${tenantName} gegeven? Doe dan niets: er gebeurt niets.`,
    ],
  }),
  'password-reset': ({ tenantName, validMinutes }) => ({
    subject: `Kies een nieuw wachtwoord voor ${tenantName}`,
    before: [
      `Iemand heeft een nieuw wachtwoord gevraagd voor je account bij ${tenantName}. Open deze link om er een te kiezen:`,
    ],
    button: 'Nieuw wachtwoord kiezen',
    after: [
      `De link werkt één keer en verloopt over ${validMinutes} minuten. Daarna ben je overal uitgelogd.`,
      'Was jij dit niet? Doe dan niets: je wachtwoord blijft zoals het is.',
    ],
  }),
  'account-exists': ({ tenantName }) => ({
    subject: `Je hebt al een account bij ${tenantName}`,
    before: [
      `Iemand wilde zich bij ${tenantName} aanmelden met dit adres, dat al een account heeft. Open deze link om in te loggen:`,
    ],
    button: 'Inloggen',
    after: ['Weet je je wachtwoord niet meer? Kies daar een nieuw. Was jij dit niet? Doe dan niets.'],
  }),
  'relationship-invitation': ({ tenantName, invitor, expiresAt }) => ({
    subject: `${invitor ?? 'Iemand'} deelt iets met je bij ${tenantName}`,
    before: [
      `${invitor ?? 'Iemand'} nodigt je uit bij ${tenantName}. Open deze link om te zien wat er gedeeld wordt, en om het te aanvaarden of te weigeren:`,
    ],
    button: 'Uitnodiging bekijken',
    after: [`De uitnodiging verloopt op ${when(expiresAt, 'nl')} UTC.`],
  }),
  'portal-invitation': ({ tenantName, role, expiresAt }) => ({
    subject: `Je bent uitgenodigd om ${tenantName} te beheren`,
    before: [`Je bent bij ${tenantName} uitgenodigd als ${role}. Open deze link om lid te worden:`],
    button: 'Lid worden',
    after: [`De link werkt één keer en verloopt op ${when(expiresAt, 'nl')} UTC. Geef hem niet door.`],
  }),
  foot: (tenantName) => `Dit bericht is verzonden voor ${tenantName}. Antwoorden worden niet gelezen.`,
};

const fr: Texts = {
  'email-verification': ({ tenantName, validHours }) => ({
    subject: `Confirmez votre adresse e-mail pour ${tenantName}`,
    before: ['Ouvrez ce lien pour confirmer que cette adresse est la vôtre :'],
    button: "Confirmer l'adresse",
    after: [
      `Le lien fonctionne une seule fois et expire dans ${validHours} heures.`,
      `Si vous n'avez pas donné cette adresse à ${tenantName}, ne faites rien : rien ne se passera.`,
    ],
  }),
  'password-reset': ({ tenantName, validMinutes }) => ({
    subject: `Choisissez un nouveau mot de passe pour ${tenantName}`,
    before: [
      `Quelqu'un a demandé un nouveau mot de passe pour votre compte chez ${tenantName}. Ouvrez ce lien pour le choisir :`,
    ],
    button: 'Choisir un nouveau mot de passe',
    after: [
      `Le lien fonctionne une seule fois et expire dans ${validMinutes} minutes. Vous serez ensuite déconnecté partout.`,
      "Si ce n'était pas vous, ne faites rien : votre mot de passe reste inchangé.",
    ],
  }),
  'account-exists': ({ tenantName }) => ({
    subject: `Vous avez déjà un compte chez ${tenantName}`,
    before: [
      `Quelqu'un a voulu s'inscrire chez ${tenantName} avec cette adresse, qui a déjà un compte. Ouvrez ce lien pour vous connecter :`,
    ],
    button: 'Se connecter',
    after: [
      "Si vous ne connaissez plus votre mot de passe, choisissez-en un nouveau à cette page. Si ce n'était pas vous, ne faites rien.",
    ],
  }),
  'relationship-invitation': ({ tenantName, invitor, expiresAt }) => ({
    subject: `${invitor ?? "Quelqu'un"} partage quelque chose avec vous chez ${tenantName}`,
    before: [
      `${invitor ?? "Quelqu'un"} vous invite chez ${tenantName}. Ouvrez ce lien pour voir ce qui est partagé, et pour l'accepter ou le refuser :`,
    ],
    button: "Voir l'invitation",
    after: [`L'invitation expire le ${when(expiresAt, 'fr')} UTC.`],
  }),
  'portal-invitation': ({ tenantName, role, expiresAt }) => ({
    subject: `Vous êtes invité à administrer ${tenantName}`,
    before: [`Vous êtes invité chez ${tenantName} en tant que ${role}. Ouvrez ce lien pour devenir membre :`],
    button: 'Devenir membre',
    after: [`Le lien fonctionne une seule fois et expire le ${when(expiresAt, 'fr')} UTC. Ne le transmettez pas.`],
  }),
  foot: (tenantName) => `Ce message a été envoyé pour ${tenantName}. Personne ne lit les réponses.`,
};

export const texts: Record<MailLanguage, Texts> = { en, nl, fr };
