/** How the tenant's pages look, as the API has it and as a form does. */
import { defaultColour, isColour } from '../../../../../server/pages/brand.ts';
import type { Spec } from '../../../manifests/manifest.ts';
import type { TenantTexts } from './texts.en.ts';

export const pageLanguages = ['en', 'nl', 'fr'] as const;
export type PageLanguage = (typeof pageLanguages)[number];

export type Branding = {
  displayName: string;
  logo?: string;
  colours?: { primary: string; background?: string };
  languages?: PageLanguage[];
  sharingPage?: boolean;
};
export type Stored = Branding & { revision: number; managedBy: string };

export type Form = {
  displayName: string;
  logo: string;
  colour: string;
  background: string;
  languages: PageLanguage[];
  sharingPage: boolean;
};

export const formOf = ({ displayName, logo = '', colours, languages = [], sharingPage = false }: Branding): Form => ({
  ...{ displayName, logo, languages, sharingPage },
  colour: colours?.primary ?? '',
  background: colours?.background ?? '',
});

export function brandingOf({ displayName, logo, colour, background, languages, sharingPage }: Form): Branding {
  const [primary, behind] = [colour.trim(), background.trim()];
  // The API has a colour behind the page only beside one of buttons.
  const colours = { primary: primary || defaultColour, ...(behind === '' ? {} : { background: behind }) };
  return {
    displayName: displayName.trim(),
    ...(logo.trim() === '' ? {} : { logo: logo.trim() }),
    ...(primary === '' && behind === '' ? {} : { colours }),
    ...(languages.length === 0 ? {} : { languages }),
    ...(sharingPage ? { sharingPage } : {}),
  };
}

/** How the pages look in the place of what is stored of the Tenant. */
export function specOf({ displayName, logo, colours, languages, sharingPage }: Branding, stored: Spec): Spec {
  const login = stored.login as Spec | undefined;
  const brand = logo === undefined && colours === undefined ? undefined : { logo, colours };
  const off = login?.sharingPage === undefined ? undefined : false;
  const looks = { brand, languages, sharingPage: sharingPage ? true : off };
  const isPlain = login === undefined && Object.values(looks).every((one) => one === undefined);
  return { ...stored, displayName, ...(!isPlain && { login: { ...login, ...looks } }) };
}

export const isSame = (one: Form, other: Form) => JSON.stringify(one) === JSON.stringify(other);

/** Whether it is left empty, or a colour. */
export const isColourOrNone = (text: string) => text.trim() === '' || isColour(text.trim());

export function brandingFacts(
  { displayName, logo, colours, languages, sharingPage }: Branding,
  t: TenantTexts,
): [string, string | undefined][] {
  return [
    [t.displayName, displayName],
    [t.logo, logo],
    [t.colour, colours?.primary ?? t.accords],
    [t.background, colours?.background ?? t.ofStyle],
    [t.languages, languages?.map((one) => t.languageNames[one]).join(', ') ?? t.all],
    [t.sharingPage, sharingPage ? t.on : t.off],
  ];
}
