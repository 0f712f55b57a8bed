import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contrast, surfaces, textOn, themeCss } from '../../server/pages/brand.ts';

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

test('of any brand, text and edges are told from what they stand on', () => {
  const colour = fc.integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);
  fc.assert(
    fc.property(colour, colour, (light, dark) => {
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
