import type { Texts } from './texts.en.ts';

export const nl = {
  title: 'Overzicht',
  about: 'Wat er nu in deze tenant gebeurt, en wat iemand nodig heeft.',
} satisfies Texts;
