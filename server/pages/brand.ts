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
  /** Behind the page. `#rrggbb`; of light and of dark pages the nearest shade on which words are read. */
  background?: string;
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
const TEXT_MORE = 7; // WCAG 1.4.6, which the pages keep for their own words
const EDGE = 3; // WCAG 1.4.11

/** What stands on the paper, with the contrast that it keeps there. Of style.css, too. */
export const inks = {
  light: { ink: '#14181f', soft: '#454c58', edge: '#7d8592', bad: '#a5122a' },
  dark: { ink: '#eef1f5', soft: '#b3bbc7', edge: '#727d8d', bad: '#ff9da6' },
} as const;
const kept = { ink: TEXT_MORE, soft: TEXT_MORE, edge: EDGE, bad: TEXT } as const;

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
type Scheme = 'light' | 'dark';
type Ground = Readonly<{ paper: string; words: readonly (readonly [colour: string, ratio: number])[] }>;

/** The colour, or the nearest shade towards that of the style on which all words are read, or as well as on that one. */
function groundOf(hex: string, { paper, words: wanted }: Ground): string {
  const words = wanted.map(([colour, ratio]) => [colour, Math.min(ratio, contrast(colour, paper))] as const);
  for (let share = 0; share < 1; share += 0.02) {
    const candidate = mix(hex, paper, share);
    if (words.every(([colour, ratio]) => contrast(colour, candidate) >= ratio)) return candidate;
  }
  return paper;
}

/** The surfaces of pages with this colour behind them. */
export function surfacesWith(background: string | undefined, scheme: Scheme): Surfaces {
  const { card, paper } = surfaces[scheme];
  if (!isColour(background)) return { card, paper };
  const words = Object.entries(inks[scheme]).map(
    ([name, colour]) => [colour, kept[name as keyof typeof kept]] as const,
  );
  return { card, paper: groundOf(background, { paper, words }) };
}

/** A brand's colour as a page uses it: for fills and the words on them, edges, words, and a soft ground. */
function coloursOf(hex: string, { card, paper }: Surfaces, ...others: readonly string[]) {
  const soft = mix(card, hex, 0.1);
  const on = [card, paper, soft, ...others];
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
/** The same of the words that stand on its ground, and of edges there. */
export const applicationInks = {
  light: { ground: '#f7f7f9', text: '#1b1c22', dim: '#565b68', line: '#8d92a0' },
  dark: { ground: '#121317', text: '#ecedf1', dim: '#a8adba', line: '#737987' },
} as const;
/** `ground`: behind the page, where the tenant chose it. */
export type BrandColours = Readonly<Record<Scheme, ReturnType<typeof coloursOf> & { ground?: string }>>;

/** For the pages of the web application that have a tenant's brand. */
export function brandColours({ colour, colourDark, background }: Brand): BrandColours {
  const of = (scheme: Scheme, hex: string) => {
    const own = applicationSurfaces[scheme];
    if (!isColour(background)) return coloursOf(hex, own);
    const { ground: paper, text, dim, line } = applicationInks[scheme];
    const ground = groundOf(background, {
      paper,
      words: [
        [text, TEXT_MORE],
        [dim, TEXT],
        [line, EDGE],
      ],
    });
    return { ...coloursOf(hex, own, ground), ground };
  };
  const light = isColour(colour) ? colour : defaultColour;
  return { light: of('light', light), dark: of('dark', isColour(colourDark) ? colourDark : light) };
}

function variables(hex: string, surfaces: Surfaces): string[] {
  const { fill, onFill, over, edge, ink, soft } = coloursOf(hex, surfaces);
  return [
    `--accent: ${fill}`,
    `--on-accent: ${onFill}`,
    `--accent-over: ${over}`,
    `--accent-edge: ${edge}`,
    `--accent-ink: ${ink}`,
    `--accent-soft: ${soft}`,
  ];
}

/** A colour of a brand on light or on dark pages: the ratio that it has to them, and what is drawn instead where it is too low. */
type Shade = { ratio: number; edge: string; ink: string; paper: string };

/** What pages make of a colour, and of one behind them, for whoever chooses them. */
export function madeOf(
  hex: string,
  background?: string,
): { on: string; onRatio: number } & Readonly<Record<Scheme, Shade>> {
  const shade = (scheme: Scheme): Shade => {
    const ground = surfacesWith(background, scheme);
    const { edge, ink, soft } = coloursOf(hex, ground);
    const { card, paper } = ground;
    return { ratio: Math.min(...[card, paper, soft].map((one) => contrast(hex, one))), edge, ink, paper };
  };
  const on = textOn(hex);
  return { on, onRatio: contrast(hex, on), light: shade('light'), dark: shade('dark') };
}

/** The style sheet of a brand: a function of its colours and of nothing else, so that its address names all that it depends on. */
export function themeCss(light: string, dark: string, background?: string): string {
  const of = (scheme: Scheme, hex: string) => {
    const ground = surfacesWith(background, scheme);
    const behind = background === undefined ? [] : [`--paper: ${ground.paper}`, `--glow: ${ground.paper}`];
    return [...variables(hex, ground), ...behind].join('; ');
  };
  return `:root { ${of('light', light)} }
@media (prefers-color-scheme: dark) { :root { ${of('dark', dark)} } }
`;
}
