import type { Language, PageContext, RenderedPage } from '../../server/pages/index.ts';

export type Sample = (language: Language) => RenderedPage;
export const form = { action: '/send', csrf: 'c2FtcGxl' };
export const client = 'Carshare Web';

export const contextOf = (language: Language): PageContext => ({
  brand: {
    name: 'Carshare',
    colour: '#0a7a3c',
    privacyUrl: 'https://carshare.example/privacy',
    termsUrl: 'https://carshare.example/terms',
    supportUrl: 'mailto:help@carshare.example',
  },
  language,
  basePath: '',
  languageLinks: { en: '?ui_locales=en', nl: '?ui_locales=nl', fr: '?ui_locales=fr' },
});
