import type { Texts } from './texts.en.ts';

export const nl = {
  title: 'Personen',
  about: 'Relaties, toestemmingen, uitnodigingen en beslissingen van een persoon.',
} satisfies Texts;
