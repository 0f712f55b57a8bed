import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applicationInks,
  brandColours,
  contrast,
  inks,
  surfaces,
  surfacesWith,
  textOn,
  themeCss,
} from '../../server/pages/brand.ts';

/** The variables of a style sheet's two :root blocks. */
function variablesOf(css: string) {
  const blocks = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block = '']) =>
    Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value])),
  );
  expect(blocks.length).toBe(2);
  return { light: blocks[0] as Record<string, string>, dark: blocks[1] as Record<string, string> };
}

describe('contrast', () => {
  // The first two are the bounds; the others are the examples of WebAIM's checker.
  test.each([
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#ffffff', 1],
    ['#777777', '#ffffff', 4.48],
    ['#0000ff', '#ffffff', 8.59],
    ['#ff0000', '#ffffff', 4.0],
  ])('%s on %s is %d', (one, other, ratio) => {
    expect(contrast(one, other)).toBeCloseTo(ratio, 1);
    expect(contrast(other, one)).toBe(contrast(one, other));
  });
  test.each([
    ['#ffd400', '#000000'],
    ['#0a7a3c', '#ffffff'],
    ['#ffffff', '#000000'],
    ['#000000', '#ffffff'],
  ])('the text on %s is %s', (colour, text) => expect(textOn(colour)).toBe(text));
});

const anyColour = fc.integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);

test('of any colour behind the page, all words and edges are told from it', () => {
  const least = { ink: 7, soft: 7, edge: 3, bad: 4.5 };
  fc.assert(
    fc.property(anyColour, anyColour, (colour, background) => {
      const theme = variablesOf(themeCss(colour, colour, background));
      const application = brandColours({ name: 'x', colour, background });
      for (const scheme of ['light', 'dark'] as const) {
        const { paper, glow, ...of } = theme[scheme] as Record<string, string>;
        expect([paper, glow]).toEqual([surfacesWith(background, scheme).paper, paper]);
        for (const [name, ratio] of Object.entries(least))
          expect(contrast(inks[scheme][name as keyof typeof least], paper as string)).toBeGreaterThanOrEqual(ratio);
        expect(contrast(of['accent-ink'] as string, paper as string)).toBeGreaterThanOrEqual(4.5);
        expect(contrast(of['accent-edge'] as string, paper as string)).toBeGreaterThanOrEqual(3);
        const { ground, ink, edge } = application[scheme];
        const { text, dim, line } = applicationInks[scheme];
        for (const [word, ratio] of [
          [text, 7],
          [dim, 4.5],
          [line, Math.min(3, contrast(line, applicationInks[scheme].ground))],
          [ink, 4.5],
          [edge, 3],
        ] as const)
          expect(contrast(word, ground as string)).toBeGreaterThanOrEqual(ratio);
      }
    }),
  );
});

test('a colour behind the page is drawn as it is where it can be, and only there', () => {
  expect(surfacesWith('#e8f0ff', 'light').paper).toBe('#e8f0ff');
  expect(surfacesWith('#e8f0ff', 'dark').paper).not.toBe('#e8f0ff');
  expect(surfacesWith('#0a1020', 'dark').paper).toBe('#0a1020');
  expect(surfacesWith(undefined, 'light')).toEqual(surfaces.light);
  expect(surfacesWith('red', 'dark')).toEqual(surfaces.dark);
  expect(themeCss('#123456', '#123456')).not.toContain('--paper');
});

test('of any brand, text and edges are told from what they stand on', () => {
  fc.assert(
    fc.property(anyColour, anyColour, (light, dark) => {
      const theme = variablesOf(themeCss(light, dark));
      expect(theme.light.accent).toBe(light);
      expect(theme.dark.accent).toBe(dark);
      for (const scheme of ['light', 'dark'] as const) {
        const of = theme[scheme] as Record<string, string>;
        expect(contrast(of['on-accent'] as string, of.accent as string)).toBeGreaterThanOrEqual(4.5);
        expect(contrast(of['on-accent'] as string, of['accent-over'] as string)).toBeGreaterThanOrEqual(4.5);
        for (const surface of [surfaces[scheme].card, surfaces[scheme].paper, of['accent-soft'] as string]) {
          expect(contrast(of['accent-ink'] as string, surface)).toBeGreaterThanOrEqual(4.5);
          expect(contrast(of['accent-edge'] as string, surface)).toBeGreaterThanOrEqual(3);
        }
      }
    }),
  );
});

describe('the style sheet', () => {
  const css = readFileSync(new URL('../../server/pages/assets/style.css', import.meta.url), 'utf8');
  const tokens = variablesOf(css);
  test.each(['light', 'dark'] as const)('has contrast, %s', (scheme) => {
    const of = tokens[scheme] as Record<string, string>;
    const on = (name: string, surface: string) => contrast(of[name] as string, of[surface] as string);
    expect({ card: of.card, paper: of.paper }).toEqual(surfaces[scheme]);
    expect(of).toMatchObject(inks[scheme]);
    for (const surface of ['card', 'paper']) {
      expect(on('ink', surface)).toBeGreaterThanOrEqual(7);
      expect(on('soft', surface)).toBeGreaterThanOrEqual(7);
      expect(on('edge', surface)).toBeGreaterThanOrEqual(3);
      expect(on('bad', surface)).toBeGreaterThanOrEqual(4.5);
    }
    for (const [text, surface] of [
      ['ink', 'bad-soft'],
      ['ink', 'good-soft'],
      ['ink', 'info-soft'],
    ] as const) {
      expect(on(text, surface)).toBeGreaterThanOrEqual(7);
    }
    for (const [text, surface] of [
      ['bad', 'bad-soft'],
      ['good', 'good-soft'],
      ['soft', 'info-soft'],
    ] as const) {
      expect(on(text, surface)).toBeGreaterThanOrEqual(4.5);
    }
  });
});

test('the web application has the words that the ground of a brand is chosen for', () => {
  const css = readFileSync(new URL('../../portal/src/ui/tokens.css', import.meta.url), 'utf8');
  const blocks = [...css.matchAll(/\{([^}]*--bg:[^}]*)\}/g)].map(([, block = '']) => block);
  for (const [i, scheme] of (['light', 'dark'] as const).entries()) {
    const { ground, text, dim, line } = applicationInks[scheme];
    for (const token of [`--bg: ${ground};`, `--text: ${text};`, `--dim: ${dim};`, `--line-strong: ${line};`])
      expect(blocks[i]).toContain(token);
  }
});
