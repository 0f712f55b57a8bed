import { limits } from '../../core/limits.ts';
import { frAccount } from './fr-account.ts';
import { frMembers } from './fr-members.ts';
import type { Texts } from './texts.ts';

export const fr: Texts = {
  name: 'Français',
  common: {
    language: 'Langue',
    privacy: 'Confidentialité',
    terms: 'Conditions',
    support: 'Aide',
    errorPrefix: 'Erreur',
    problems: 'Il y a un problème',
    optional: '(facultatif)',
    continue: 'Continuer',
    back: 'Retour',
    cancel: 'Annuler',
    or: 'ou',
    backToLogIn: 'Retour à la connexion',
  },
  errors: {
    email_required: 'Saisissez votre adresse e-mail.',
    email_invalid: 'Saisissez une adresse e-mail, par exemple nom@exemple.fr.',
    display_name_invalid: `Utilisez une seule ligne de ${limits.accountNameCharsMax} caractères au plus.`,
    password_required: 'Saisissez un mot de passe.',
    password_too_short: `Ce mot de passe est trop court. Utilisez au moins ${limits.passwordCharsMin} caractères.`,
    password_too_long: `Ce mot de passe est trop long. Utilisez ${limits.passwordBytesMax} caractères au plus, et moins s’ils sont accentués ou non latins.`,
    password_too_common: 'Ce mot de passe est trop connu. Choisissez-en un autre.',
    password_like_account: 'Ce mot de passe ressemble trop à votre nom ou à votre adresse.',
    password_wrong: 'Ce mot de passe est incorrect.',
    invitation_code_invalid: 'Ce code est incomplet. Copiez tout ce qui se trouve après # dans le lien.',
    user_code_required: 'Saisissez le code affiché par votre appareil.',
    user_code_unknown: 'Aucun appareil n’attend avec ce code. Vérifiez le code sur votre appareil.',
    user_code_expired: 'Ce code a expiré. Demandez-en un nouveau sur votre appareil.',
    user_code_again: 'La page que vous avez envoyée n’était pas la plus récente. Saisissez de nouveau le code.',
    name_required: 'Saisissez un nom.',
    passkey_name_invalid: `Utilisez une seule ligne de ${limits.passkeyNameCharsMax} caractères au plus.`,
  },
  fields: {
    email: 'Adresse e-mail',
    password: 'Mot de passe',
    newPassword: 'Nouveau mot de passe',
    displayName: 'Votre nom',
    passwordHint: (min) =>
      `Au moins ${min} caractères. Quelques mots sans lien sont faciles à retenir et difficiles à deviner.`,
  },
  redirect: {
    title: 'Un instant',
    text: 'Vous allez être redirigé.',
    to: (name: string) => `Vous êtes redirigé vers ${name}.`,
  },
  logIn: {
    title: 'Se connecter',
    lead: (client) => `pour continuer vers ${client}`,
    submit: 'Se connecter',
    passkey: 'Se connecter avec une clé d’accès',
    upstream: (name) => `Continuer avec ${name}`,
    forgot: 'Mot de passe oublié ?',
    noAccount: 'Pas encore de compte ?',
    signUp: 'Créer un compte',
    cancel: (client) => `Annuler et revenir à ${client}`,
    problems: {
      credentials:
        'L’adresse ou le mot de passe est incorrect. Vérifiez les deux, ou réinitialisez votre mot de passe.',
      upstream_failed: 'La connexion là-bas n’a pas abouti. Réessayez, ou connectez-vous autrement.',
      upstream_unavailable:
        'Cette connexion est indisponible pour le moment. Réessayez plus tard ou connectez-vous autrement.',
      upstream_cancelled: 'Vous ne vous êtes pas connecté là-bas. Réessayez ou connectez-vous autrement.',
      upstream_stale:
        'Une nouvelle connexion est nécessaire, et elle ne vous a pas été demandée là-bas. Connectez-vous autrement.',
      upstream_gone: 'Cette connexion n’est plus proposée. Connectez-vous autrement.',
      upstream_unverified:
        'Votre adresse e-mail n’y est pas confirmée. Confirmez-la là-bas et réessayez, ou connectez-vous autrement.',
      upstream_closed:
        'Aucun compte ici n’appartient à cette connexion, et les comptes sont créés sur invitation uniquement. Demandez une invitation ou connectez-vous autrement.',
      upstream_no_access:
        'Cette connexion ne donne pas accès ici. Connectez-vous autrement ou demandez de l’aide là où vous l’avez obtenue.',
    },
    retry: (seconds) => {
      if (seconds < 60) return seconds === 1 ? 'Réessayez dans 1 seconde.' : `Réessayez dans ${seconds} secondes.`;
      const minutes = Math.ceil(seconds / 60);
      return minutes === 1 ? 'Réessayez dans 1 minute.' : `Réessayez dans ${minutes} minutes.`;
    },
    notices: {
      password_changed: 'Votre mot de passe a été modifié. Connectez-vous avec le nouveau.',
      email_verified: 'Votre adresse e-mail est confirmée. Vous pouvez vous connecter.',
      again: 'Reconnectez-vous pour confirmer que c’est bien vous.',
      link: 'Il existe un compte avec votre adresse e-mail. Connectez-vous-y une fois : ensuite, votre autre connexion y mènera aussi.',
      finish:
        'Connectez-vous une fois avec le mot de passe que vous avez choisi, pour terminer la création de votre compte.',
    },
  },
  signUp: {
    title: 'Créez votre compte',
    submit: 'Créer le compte',
    emailHint: 'Nous y envoyons un message pour confirmer qu’elle est à vous.',
    emailFixed: 'C’est l’adresse qui a été invitée.',
    displayNameHint: 'Les autres le voient quand vous partagez quelque chose avec eux.',
    haveAccount: 'Vous avez déjà un compte ?',
    logIn: 'Se connecter',
  },
  consent: {
    title: (client) => `${client} demande un accès`,
    account: 'Connecté en tant que',
    may: (client) => `${client} pourrait :`,
    revoke: 'Vous pouvez le retirer à tout moment sur la page de votre compte.',
    leads: (host) => `Vous serez dirigé vers ${host}.`,
    allow: 'Autoriser',
    deny: 'Ne pas autoriser',
  },
  scopes: {
    openid: 'Savoir qui vous êtes',
    profile: 'Voir votre nom',
    email: 'Voir votre adresse e-mail',
    address: 'Voir votre adresse postale',
    phone: 'Voir votre numéro de téléphone',
    offline_access: 'Garder cet accès en votre absence',
    relationships: 'Voir vos relations : ce que vous avez, utilisez ou partagez',
    consents: 'Voir ce à quoi vous avez consenti',
    'urn:accord:act': 'Agir ici en votre nom : voir et modifier ce que vous partagez et ce à quoi vous consentez',
  },
  loggedOut: {
    title: 'Vous êtes déconnecté',
    text: 'Si d’autres personnes utilisent cet appareil, fermez le navigateur.',
    logIn: 'Se reconnecter',
    back: (client) => `Retour à ${client}`,
  },
  logout: {
    title: 'Se déconnecter ?',
    text: (name) => `Vous serez déconnecté de ${name} sur cet appareil.`,
    client: (client) => `C’est ${client} qui le demande.`,
    yes: 'Se déconnecter',
    no: 'Rester connecté',
  },
  errorPage: {
    kinds: {
      invalid_request: {
        title: 'Ce n’est pas possible',
        text: 'L’application a envoyé une demande qui n’est pas valable. Revenez-y et réessayez. Si cela ne suffit pas, prévenez ses responsables.',
      },
      expired: {
        title: 'Cette page a expiré',
        text: 'Elle est restée ouverte trop longtemps, ou vous avez déjà terminé. Revenez à l’application et recommencez.',
      },
      forged: {
        title: 'Le formulaire n’a pas pu être accepté',
        text: 'Il ne vient pas d’une page ouverte dans ce navigateur. Autorisez les cookies pour ce site, puis revenez et réessayez.',
      },
      link_invalid: {
        title: 'Ce lien ne fonctionne plus',
        text: 'Il a expiré ou a déjà été utilisé. Demandez-en un nouveau.',
      },
      not_found: { title: 'Il n’y a rien ici', text: 'Vérifiez l’adresse, ou revenez d’où vous venez.' },
      too_many: { title: 'Trop de tentatives', text: 'Attendez quelques minutes, puis réessayez.' },
      access_denied: {
        title: 'Vous n’avez pas accès',
        text: 'Votre compte n’y est pas autorisé. Adressez-vous à un administrateur.',
      },
      unavailable: {
        title: 'Cela ne fonctionne pas pour le moment',
        text: 'Une erreur s’est produite de notre côté, et rien n’a été modifié. Réessayez dans un instant.',
      },
    },
    code: 'Erreur',
    requestId: 'Référence',
    details: 'Informations pour l’assistance',
    back: (client) => `Retour à ${client}`,
  },
  ...frAccount,
  ...frMembers,
};
