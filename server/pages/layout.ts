/** The document around every page: one card below the tenant's logo and name. */
import { type Scheme, styleAddress, themeAddress } from './assets.ts';
import type { Brand } from './brand.ts';
import { originOf, type PageHeaders, pageHeaders } from './headers.ts';
import { type Html, html } from './html.ts';
import { type Language, languages, textsOf } from './language.ts';

/** What every page needs to know beside its own properties. */
export type PageContext = Readonly<{
  brand: Brand;
  language: Language;
  /** The path of ACCORD_BASE_URL without a slash at its end: '' or such as '/accord'. */
  basePath: string;
  /** Where this same page is in other languages: a link to each is shown. */
  languageLinks?: Readonly<Partial<Record<Language, string>>>;
  /** In place of what the browser is set to, for a preview. */
  scheme?: Scheme;
  /** The application opened the page in a window of its own (display=popup). */
  popup?: boolean;
}>;

/** To be sent with `sendPage`, or with these headers. */
export type RenderedPage = Readonly<{ headers: PageHeaders; body: string }>;

export type Layout = Readonly<{
  title: string;
  body: Html;
  /** Lists and tables need more room than the 26 rem of a form. */
  wide?: boolean;
  /** Above the card: links of a signed-in person. */
  navigation?: Html;
  /** Screen readers read the title first, so that it says that there is an error. */
  hasError?: boolean;
  /** The address of the page's script in /assets. */
  script?: string;
  /** Its form goes to another site, which may redirect anywhere. */
  leaves?: boolean;
  headers?: PageHeaders;
}>;

export function page(context: PageContext, layout: Layout): RenderedPage {
  const { brand, language, basePath, scheme } = context;
  const texts = textsOf(language);
  const title = `${layout.hasError ? `${texts.common.errorPrefix}: ` : ''}${layout.title} – ${brand.name}`;
  const document = html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${scheme ?? 'light dark'}">
<title>${title}</title>
<link rel="stylesheet" href="${basePath + styleAddress(scheme)}">
<link rel="stylesheet" href="${basePath + themeAddress(brand, scheme)}">
${layout.script !== undefined && html`<script src="${basePath + layout.script}" defer></script>`}
</head>
<body class="${layout.wide ? 'wide' : 'narrow'}">
<header>${brandMark(brand)}${layout.navigation}</header>
<main>${layout.body}</main>
${footer(context)}
</body>
</html>
`;
  const { popup = false } = context;
  const { script, leaves = false } = layout;
  const headers = pageHeaders({ brand, language, popup, leaves, hasScript: script !== undefined });
  return { headers: { ...headers, ...layout.headers }, body: document.text };
}

function brandMark({ name, logo, logoDark }: Brand): Html {
  return html`<p class="brand">${logoOf(logo, logoDark) ?? html`<span class="monogram" aria-hidden="true">${monogram(name)}</span>`}<span>${name}</span></p>`;
}

/** Whether a page may load it. */
export const isShown = (logo: string | undefined): logo is string =>
  logo?.startsWith('/') || originOf(logo) !== undefined;

function logoOf(logo: string | undefined, dark: string | undefined): Html | undefined {
  if (!isShown(logo)) return undefined;
  const image = html`<img src="${logo}" alt="" class="${isShown(dark) ? 'logo' : 'logo tile'}">`;
  if (!isShown(dark)) return image;
  return html`<picture><source srcset="${dark}" media="(prefers-color-scheme: dark)">${image}</picture>`;
}

/** The first letter of a name, as people see letters. */
const monogram = (name: string) =>
  [...new Intl.Segmenter().segment(name.trim())][0]?.segment.toLocaleUpperCase() ?? '·';

function footer({ brand, language, languageLinks = {} }: PageContext): Html {
  const { common } = textsOf(language);
  const links = [
    { url: brand.privacyUrl, text: common.privacy },
    { url: brand.termsUrl, text: common.terms },
    { url: brand.supportUrl, text: common.support },
  ].filter((link): link is { url: string; text: string } => link.url !== undefined);
  const others = languages.filter((one) => one === language || languageLinks[one] !== undefined);
  const choice = languages.length > 1 && others.length > 1;
  return html`<footer>
${links.length > 0 && html`<ul>${links.map(({ url, text }) => html`<li><a href="${url}" rel="noreferrer">${text}</a></li>`)}</ul>`}
${choice && html`<nav aria-label="${common.language}"><ul>${others.map((one) => languageItem(one, language, languageLinks[one]))}</ul></nav>`}
</footer>`;
}

function languageItem(one: Language, current: Language, url = ''): Html {
  const { name } = textsOf(one);
  if (one === current) return html`<li><span lang="${one}" aria-current="true">${name}</span></li>`;
  return html`<li><a href="${url}" lang="${one}" hreflang="${one}">${name}</a></li>`;
}
