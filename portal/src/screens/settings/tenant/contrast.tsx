/** How well a colour is read on the tenant's pages, computed as the pages do it. */
import { defaultColour, isColour, madeOf } from '../../../../../server/pages/brand.ts';
import { useLanguage, useTexts } from '../../../core/texts.ts';
import { Facts, State } from '../../../ui/index.ts';
import { type Form, isColourOrNone } from './branding.ts';
import { texts } from './texts.ts';

const TEXT = 4.5;
const EDGE = 3;

/** @param of as it is typed; '' is the colour of Accord, and behind the page that of the style */
export function Contrast({ of: { colour, background } }: { of: Pick<Form, 'colour' | 'background'> }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const hex = colour.trim() || defaultColour;
  const behind = background.trim();
  if (!isColour(hex) || !isColourOrNone(behind)) return null;
  const { on, onRatio, light, dark } = madeOf(hex, behind);
  const drawn = (paper: string) => (paper === behind.toLowerCase() ? paper : t.behindAs(paper));
  // Rounded down: 4.49 is not enough, and must not read as 4.5.
  const shown = (ratio: number) => (Math.floor(ratio * 10) / 10).toLocaleString(language);
  const judged = (ratio: number, enough: number, shade: string) =>
    ratio >= enough ? (
      <State tone="ok">{t.ratio(shown(ratio))}</State>
    ) : (
      <>
        <State tone="warn">{t.ratio(shown(ratio))}</State> {t.drawnAs(shade)}
      </>
    );
  return (
    <section className="stack" aria-label={t.contrast}>
      <h2>{t.contrast}</h2>
      <p className="dim">{t.contrastAbout}</p>
      <Facts
        facts={[
          [t.onButton, judged(onRatio, TEXT, on)],
          [t.onLight, judged(light.ratio, TEXT, light.ink)],
          [t.edgeLight, judged(light.ratio, EDGE, light.edge)],
          [t.onDark, judged(dark.ratio, TEXT, dark.ink)],
          [t.edgeDark, judged(dark.ratio, EDGE, dark.edge)],
          ...(behind === ''
            ? []
            : ([
                [t.behindLight, drawn(light.paper)],
                [t.behindDark, drawn(dark.paper)],
              ] as [string, string][])),
        ]}
      />
    </section>
  );
}
