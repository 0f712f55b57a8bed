import { defineTexts, useTexts } from '../core/texts.ts';
import { en } from './texts.en.ts';

const texts = defineTexts(en, { nl: async () => (await import('./texts.nl.ts')).nl });
export const useSharingTexts = () => useTexts(texts);
