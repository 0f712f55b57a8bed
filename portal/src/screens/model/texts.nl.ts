import type { Texts } from './texts.en.ts';

export const nl = {
  title: 'Model',
  about: 'Typen van actoren en resources, en de relaties daartussen.',
} satisfies Texts;
