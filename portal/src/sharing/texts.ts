import { defineTexts, useTexts } from '../core/texts.ts';
import { en } from './texts.en.ts';

const texts = defineTexts(en, {
  nl: async () => (await import('./texts.nl.ts')).nl,
  fr: async () => (await import('./texts.fr.ts')).fr,
});
export const useSharingTexts = () => useTexts(texts);
