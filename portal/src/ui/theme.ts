/** Mantine speaks with the tokens of tokens.css, in light and dark. */
import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const accent: MantineColorsTuple = [
  ...(['#eef1ff', '#dbe1ff', '#b9c5ff', '#9db0ff', '#7c93fa'] as const),
  ...(['#5f79f0', '#4763e6', '#2f4bd8', '#273fb8', '#1f3294'] as const),
];

export const theme = createTheme({
  colors: { accent },
  primaryColor: 'accent',
  // White words on it are AA in both: Mantine judges the contrast of a filled button by its light shade alone.
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '14px', md: '14px', lg: '16px', xl: '20px' },
  defaultRadius: 6,
  respectReducedMotion: true,
  focusRing: 'auto',
  components: {
    Button: { defaultProps: { size: 'xs' } },
    TextInput: { defaultProps: { size: 'sm' } },
    CloseButton: { defaultProps: { 'aria-label': 'Close' } },
    Anchor: { defaultProps: { underline: 'always' } },
  },
});

const variables = {
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-dimmed': 'var(--dim)',
  '--mantine-color-placeholder': 'var(--dim)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--bad)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-border': 'var(--line-strong)',
  '--mantine-color-default-hover': 'var(--hover)',
};
export const resolver: CSSVariablesResolver = () => ({ variables: {}, light: variables, dark: variables });
