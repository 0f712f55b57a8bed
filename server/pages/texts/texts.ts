import type { en } from './en.ts';

/** All texts of the pages. English is the table's shape: what another language lacks or has besides is a type error. */
export type Texts = typeof en;
