import { defineTexts } from '../core/texts.ts';
import { en } from './texts.en.ts';

export const texts = defineTexts(en, { nl: async () => (await import('./texts.nl.ts')).nl });
