/** How the tenant's pages look, as the API has it and as a form does. */
import type { TenantTexts } from './texts.en.ts';

export const pageLanguages = ['en', 'nl', 'fr'] as const;
export type PageLanguage = (typeof pageLanguages)[number];

export type Branding = {
  displayName: string;
  logo?: string;
  colours?: { primary: string; background?: string };
  languages?: PageLanguage[];
};
export type Stored = Branding & { revision: number; managedBy: string };

export type Form = { displayName: string; logo: string; colour: string; languages: PageLanguage[] };

export const formOf = ({ displayName, logo = '', colours, languages = [] }: Branding): Form => ({
  ...{ displayName, logo, languages },
  colour: colours?.primary ?? '',
});

/** @param stored has what the form does not show */
export function brandingOf({ displayName, logo, colour, languages }: Form, stored: Branding): Branding {
  const background = stored.colours?.background;
  const colours = { primary: colour.trim(), ...(background === undefined ? {} : { background }) };
  return {
    displayName: displayName.trim(),
    ...(logo.trim() === '' ? {} : { logo: logo.trim() }),
    ...(colour.trim() === '' ? {} : { colours }),
    ...(languages.length === 0 ? {} : { languages }),
  };
}

export const isSame = (one: Form, other: Form) => JSON.stringify(one) === JSON.stringify(other);

export function brandingFacts(
  { displayName, logo, colours, languages }: Branding,
  t: TenantTexts,
): [string, string | undefined][] {
  return [
    [t.displayName, displayName],
    [t.logo, logo],
    [t.colour, colours?.primary ?? t.accords],
    [t.background, colours?.background],
    [t.languages, languages?.map((one) => t.languageNames[one]).join(', ') ?? t.all],
  ];
}
