import type { Texts } from './texts.en.ts';

export const nl = {
  title: 'Toestemmingen',
  about: 'Waarmee gebruikers wordt gevraagd in te stemmen, in welke versies, en wie instemde.',
} satisfies Texts;
