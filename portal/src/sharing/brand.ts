/** The tenant's name, logo and colours, which the server wrote into this page, in the words of Mantine and of tokens.css. */
import { type CSSVariablesResolver, createTheme, mergeThemeOverrides } from '@mantine/core';
import { resolver, theme } from '../ui/theme.ts';

/** As server/pages/brand.ts makes them: readable on the surfaces of this application. */
type Colours = Record<'fill' | 'onFill' | 'over' | 'edge' | 'ink' | 'soft', string> & { ground?: string };
type Brand = { name: string; logo?: string; colours: Record<'light' | 'dark', Colours> };

export const brand = JSON.parse(
  document.querySelector<HTMLMetaElement>('meta[name="accord-brand"]')?.content ?? '',
) as Brand;

const { light, dark } = brand.colours;
const ten = <T>(one: T): [T, T, T, T, T, T, T, T, T, T] => [one, one, one, one, one, one, one, one, one, one];

export const brandTheme = mergeThemeOverrides(
  theme,
  createTheme({
    colors: { accent: ten(light.fill) },
    // Where black and white have the same contrast: the words on a button are the one with more, as on the server's pages.
    luminanceThreshold: 0.179,
  }),
);

const tokens = ({ fill, over, onFill, ink, soft, ground }: Colours) => ({
  '--accent': ink,
  '--accent-soft': soft,
  '--on-accent': onFill,
  '--mantine-color-accent-filled': fill,
  '--mantine-color-accent-filled-hover': over,
  ...(ground === undefined ? {} : { '--bg': ground }),
});

export const brandResolver: CSSVariablesResolver = (of) => {
  const known = resolver(of);
  return {
    variables: known.variables,
    light: { ...known.light, ...tokens(light) },
    dark: { ...known.dark, ...tokens(dark) },
  };
};

/** The first letter of the name, as people see letters. */
export const monogram = ([...new Intl.Segmenter().segment(brand.name.trim())][0]?.segment ?? '·').toLocaleUpperCase();
