import { defineTexts } from '../../../core/texts.ts';
import { en } from './texts.en.ts';

export const texts = defineTexts(en, { nl: () => import('./texts.nl.ts').then((module) => module.nl) });
