import type { Texts } from './texts.en.ts';

export const nl = {
  title: 'Activiteit',
  about: 'Eén logboek: beslissingen, gebeurtenissen, mails en wijzigingen van de configuratie.',
} satisfies Texts;
