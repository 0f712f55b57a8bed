import type { Texts } from './texts.en.ts';

export const nl = {
  title: 'Instellingen',
  about: 'Leden, clients, issuers, mail, sleutels en toegangstokens.',
} satisfies Texts;
