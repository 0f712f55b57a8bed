import { limits } from '../../core/limits.ts';
import { nlAccount } from './nl-account.ts';
import { nlMembers } from './nl-members.ts';
import type { Texts } from './texts.ts';

export const nl: Texts = {
  name: 'Nederlands',
  common: {
    language: 'Taal',
    privacy: 'Privacy',
    terms: 'Voorwaarden',
    support: 'Hulp',
    errorPrefix: 'Fout',
    problems: 'Er klopt iets niet',
    optional: '(niet verplicht)',
    continue: 'Verder',
    back: 'Terug',
    cancel: 'Annuleren',
    or: 'of',
    backToLogIn: 'Terug naar inloggen',
  },
  errors: {
    email_required: 'Vul je e-mailadres in.',
    email_invalid: 'Vul een e-mailadres in, zoals naam@voorbeeld.nl.',
    display_name_invalid: `Gebruik één regel van hoogstens ${limits.accountNameCharsMax} tekens.`,
    password_required: 'Vul een wachtwoord in.',
    password_too_short: `Dit wachtwoord is te kort. Gebruik minstens ${limits.passwordCharsMin} tekens.`,
    password_too_long: `Dit wachtwoord is te lang. Gebruik hoogstens ${limits.passwordBytesMax} tekens, en minder als er accenten of niet-Latijnse tekens in staan.`,
    password_too_common: 'Dit wachtwoord is te bekend. Kies een ander.',
    password_like_account: 'Dit wachtwoord lijkt te veel op je naam of adres.',
    password_wrong: 'Dit wachtwoord klopt niet.',
    invitation_code_invalid: 'Deze code is niet volledig. Kopieer alles wat in de link achter # staat.',
    user_code_required: 'Vul de code in die je apparaat toont.',
    user_code_unknown: 'Er wacht geen apparaat met deze code. Controleer de code op je apparaat.',
    user_code_expired: 'Deze code is verlopen. Vraag op je apparaat een nieuwe aan.',
    user_code_again: 'De pagina die je verzond was niet de nieuwste. Vul de code opnieuw in.',
    name_required: 'Vul een naam in.',
    passkey_name_invalid: `Gebruik één regel van hoogstens ${limits.passkeyNameCharsMax} tekens.`,
  },
  fields: {
    email: 'E-mailadres',
    password: 'Wachtwoord',
    newPassword: 'Nieuw wachtwoord',
    displayName: 'Je naam',
    passwordHint: (min) => `Minstens ${min} tekens. Een paar losse woorden onthoud je makkelijk en raadt niemand.`,
  },
  redirect: {
    title: 'Een ogenblik',
    text: 'Je wordt teruggebracht.',
    to: (name: string) => `Je wordt naar ${name} gebracht.`,
  },
  logIn: {
    title: 'Inloggen',
    lead: (client) => `om verder te gaan naar ${client}`,
    submit: 'Inloggen',
    passkey: 'Inloggen met een passkey',
    upstream: (name) => `Doorgaan met ${name}`,
    forgot: 'Wachtwoord vergeten?',
    noAccount: 'Nog geen account?',
    signUp: 'Maak een account',
    cancel: (client) => `Annuleren en terug naar ${client}`,
    problems: {
      credentials: 'Het adres of het wachtwoord klopt niet. Controleer beide, of stel een nieuw wachtwoord in.',
      upstream_failed: 'Inloggen lukte daar niet. Probeer het opnieuw, of log op een andere manier in.',
      upstream_unavailable: 'Inloggen kan daar nu niet. Probeer het later opnieuw, of log op een andere manier in.',
      upstream_cancelled: 'Je hebt daar niet ingelogd. Probeer het opnieuw, of log op een andere manier in.',
      upstream_stale:
        'Hiervoor moet je opnieuw inloggen, en daar werd je er niet om gevraagd. Log op een andere manier in.',
      upstream_gone: 'Daar inloggen kan niet meer. Log op een andere manier in.',
      upstream_unverified:
        'Je e-mailadres is daar niet bevestigd. Bevestig het daar en probeer het opnieuw, of log op een andere manier in.',
      upstream_closed:
        'Bij die login hoort hier geen account, en accounts zijn er alleen op uitnodiging. Vraag om een uitnodiging, of log op een andere manier in.',
      upstream_no_access:
        'Die login geeft hier geen toegang. Log op een andere manier in, of vraag om hulp waar je hem hebt gekregen.',
    },
    retry: (seconds) => {
      if (seconds < 60)
        return seconds === 1 ? 'Probeer het over 1 seconde opnieuw.' : `Probeer het over ${seconds} seconden opnieuw.`;
      const minutes = Math.ceil(seconds / 60);
      return minutes === 1 ? 'Probeer het over 1 minuut opnieuw.' : `Probeer het over ${minutes} minuten opnieuw.`;
    },
    notices: {
      password_changed: 'Je wachtwoord is gewijzigd. Log in met het nieuwe.',
      email_verified: 'Je e-mailadres is bevestigd. Je kunt nu inloggen.',
      again: 'Log opnieuw in om te bevestigen dat jij het bent.',
      link: 'Er is een account met je e-mailadres. Log er één keer op in: daarna leidt ook je andere login ernaartoe.',
      finish: 'Log één keer in met het wachtwoord dat je koos, om je account af te maken.',
    },
  },
  signUp: {
    title: 'Maak je account',
    submit: 'Account maken',
    emailHint: 'We sturen een bericht om te bevestigen dat het jouw adres is.',
    emailFixed: 'Dit is het adres dat is uitgenodigd.',
    displayNameHint: 'Anderen zien hem als je iets met ze deelt.',
    haveAccount: 'Heb je al een account?',
    logIn: 'Inloggen',
  },
  consent: {
    title: (client) => `${client} vraagt toegang`,
    account: 'Ingelogd als',
    may: (client) => `${client} zou dan mogen:`,
    revoke: 'Je kunt dit altijd terugnemen op je accountpagina.',
    leads: (host) => `Je gaat daarna naar ${host}.`,
    allow: 'Toestaan',
    deny: 'Niet toestaan',
  },
  scopes: {
    openid: 'Weten wie je bent',
    profile: 'Je naam zien',
    email: 'Je e-mailadres zien',
    address: 'Je postadres zien',
    phone: 'Je telefoonnummer zien',
    offline_access: 'Deze toegang houden terwijl je weg bent',
    relationships: 'Je relaties zien: wat je hebt, gebruikt of deelt',
    consents: 'Zien waarmee je hebt ingestemd',
    'urn:accord:act': 'Hier namens jou handelen: zien en wijzigen wat je deelt en waarmee je instemt',
  },
  loggedOut: {
    title: 'Je bent uitgelogd',
    text: 'Gebruiken anderen dit apparaat ook? Sluit dan de browser.',
    logIn: 'Opnieuw inloggen',
    back: (client) => `Terug naar ${client}`,
  },
  logout: {
    title: 'Uitloggen?',
    text: (name) => `Je wordt op dit apparaat uitgelogd bij ${name}.`,
    client: (client) => `${client} vraagt erom.`,
    yes: 'Uitloggen',
    no: 'Ingelogd blijven',
  },
  errorPage: {
    kinds: {
      invalid_request: {
        title: 'Dit kan niet',
        text: 'De applicatie stuurde een verzoek dat niet klopt. Ga ernaar terug en probeer het opnieuw. Helpt dat niet, meld het dan bij de beheerders ervan.',
      },
      expired: {
        title: 'Deze pagina is verlopen',
        text: 'Ze stond te lang open, of je bent al klaar. Ga terug naar de applicatie en begin opnieuw.',
      },
      forged: {
        title: 'Het formulier is niet aangenomen',
        text: 'Het kwam niet van een pagina die in deze browser openstaat. Sta cookies toe voor deze site, ga terug en probeer het opnieuw.',
      },
      link_invalid: {
        title: 'Deze link werkt niet meer',
        text: 'Hij is verlopen of al gebruikt. Vraag een nieuwe aan.',
      },
      not_found: { title: 'Hier is niets', text: 'Controleer het adres, of ga terug naar waar je vandaan kwam.' },
      too_many: { title: 'Te veel pogingen', text: 'Wacht een paar minuten en probeer het opnieuw.' },
      access_denied: { title: 'Je hebt geen toegang', text: 'Je account mag dit niet. Vraag het een beheerder.' },
      unavailable: {
        title: 'Dit werkt nu even niet',
        text: 'Er ging bij ons iets mis, en er is niets veranderd. Probeer het zo opnieuw.',
      },
    },
    code: 'Fout',
    requestId: 'Kenmerk',
    details: 'Gegevens voor de helpdesk',
    back: (client) => `Terug naar ${client}`,
  },
  ...nlAccount,
  ...nlMembers,
};
