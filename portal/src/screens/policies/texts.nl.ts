import type { Texts } from './texts.en.ts';

export const nl = {
  title: 'Policy’s',
  about: 'Policy’s zeggen wie wat mag.',
} satisfies Texts;
