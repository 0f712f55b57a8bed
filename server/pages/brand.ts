/** A tenant's name, logo and colour on its pages, and the style sheet of the colour, with contrast as WCAG 2.2 measures it. */

export type Brand = Readonly<{
  name: string;
  /** An https address (http on loopback), or a path of this site. */
  logo?: string;
  /** For dark pages. Without it the logo stands on a light tile there. */
  logoDark?: string;
  /** `#rrggbb`. Anything else is ignored. */
  colour?: string;
  /** For dark pages; `colour` without it. */
  colourDark?: string;
  privacyUrl?: string;
  termsUrl?: string;
  supportUrl?: string;
}>;

export type Colour = readonly [red: number, green: number, blue: number];

/** The colours of style.css that a brand's colour must be told from. test/pages/brand.test.ts compares them. */
export const surfaces = {
  light: { card: '#ffffff', paper: '#f3f4f6' },
  dark: { card: '#171b21', paper: '#0e1115' },
} as const;
export const defaultColour = '#0b5cad';
const TEXT = 4.5; // WCAG 1.4.3
const EDGE = 3; // WCAG 1.4.11

function colourOf(hex: string): Colour {
  const [, red = '', green = '', blue = ''] = /^#(..)(..)(..)$/.exec(hex) ?? [];
  return [Number.parseInt(red, 16), Number.parseInt(green, 16), Number.parseInt(blue, 16)];
}

const hexOf = (colour: Colour) => `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

function luminance(hex: string): number {
  const [red, green, blue] = colourOf(hex).map((part) => {
    const of = part / 255;
    return of <= 0.04045 ? of / 12.92 : ((of + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast ratio of two colours `#rrggbb`, 1 to 21. */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Black or white, whichever is read better on the colour: never below 4.5:1. */
export const textOn = (hex: string) => (contrast(hex, '#ffffff') >= contrast(hex, '#000000') ? '#ffffff' : '#000000');

export function mix(hex: string, other: string, share: number): string {
  const from = colourOf(hex);
  return hexOf(colourOf(other).map((part, i) => (from[i] as number) * (1 - share) + part * share) as unknown as Colour);
}

/** The colour, or the nearest darker (on light) or lighter one that has the ratio on every one of the surfaces. */
function readable(hex: string, on: readonly string[], ratio: number): string {
  const towards = textOn(on[0] as string);
  for (let share = 0; share < 1; share += 0.02) {
    const candidate = mix(hex, towards, share);
    if (on.every((surface) => contrast(candidate, surface) >= ratio)) return candidate;
  }
  return towards;
}

export const isColour = (hex: string | undefined): hex is string => /^#[0-9a-f]{6}$/i.test(hex ?? '');

type Surfaces = Readonly<{ card: string; paper: string }>;

/** A brand's colour as a page uses it: for fills and the words on them, edges, words, and a soft ground. */
function coloursOf(hex: string, { card, paper }: Surfaces) {
  const soft = mix(card, hex, 0.1);
  const on = [card, paper, soft];
  return {
    ...{ fill: hex, onFill: textOn(hex), over: mix(hex, textOn(hex) === '#ffffff' ? '#000000' : '#ffffff', 0.14) },
    ...{ edge: readable(hex, on, EDGE), ink: readable(hex, on, TEXT), soft },
  };
}

/** Of the web application (portal/src/ui/tokens.css): those with the least contrast that words stand on. */
export const applicationSurfaces = {
  light: { card: '#ffffff', paper: '#eeeff4' },
  dark: { card: '#24262d', paper: '#121317' },
} as const;
export type BrandColours = Readonly<Record<'light' | 'dark', ReturnType<typeof coloursOf>>>;

/** For the pages of the web application that have a tenant's brand. */
export function brandColours({ colour, colourDark }: Brand): BrandColours {
  const light = isColour(colour) ? colour : defaultColour;
  const dark = isColour(colourDark) ? colourDark : light;
  return { light: coloursOf(light, applicationSurfaces.light), dark: coloursOf(dark, applicationSurfaces.dark) };
}

function variables(hex: string, surfaces: Surfaces): string {
  const { fill, onFill, over, edge, ink, soft } = coloursOf(hex, surfaces);
  return [
    `--accent: ${fill}`,
    `--on-accent: ${onFill}`,
    `--accent-over: ${over}`,
    `--accent-edge: ${edge}`,
    `--accent-ink: ${ink}`,
    `--accent-soft: ${soft}`,
  ].join('; ');
}

/** A colour of a brand on light or on dark pages: the ratio that it has to them, and what is drawn instead where it is too low. */
type Shade = { ratio: number; edge: string; ink: string };

/** What pages make of a colour, for whoever chooses one. */
export function madeOf(hex: string): { on: string; onRatio: number; light: Shade; dark: Shade } {
  const shade = (ground: Surfaces): Shade => {
    const { edge, ink, soft } = coloursOf(hex, ground);
    return { ratio: Math.min(...[ground.card, ground.paper, soft].map((one) => contrast(hex, one))), edge, ink };
  };
  const on = textOn(hex);
  return { on, onRatio: contrast(hex, on), light: shade(surfaces.light), dark: shade(surfaces.dark) };
}

/** The style sheet of a brand: a function of its two colours and of nothing else, so that its address names all that it depends on. */
export function themeCss(light: string, dark: string): string {
  return `:root { ${variables(light, surfaces.light)} }
@media (prefers-color-scheme: dark) { :root { ${variables(dark, surfaces.dark)} } }
`;
}
