/** How well a colour is read on the tenant's pages, computed as the pages do it. */
import { defaultColour, isColour, madeOf, surfaces } from '../../../../../server/pages/brand.ts';
import { useLanguage, useTexts } from '../../../core/texts.ts';
import { Facts, State } from '../../../ui/index.ts';
import { texts } from './texts.ts';

const TEXT = 4.5;
const EDGE = 3;

/** @param colour as it is typed; '' is that of Accord */
export function Contrast({ colour, name }: { colour: string; name: string }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const hex = colour === '' ? defaultColour : colour;
  if (!isColour(hex)) return <p role="alert">{t.notColour}</p>;
  const { on, onRatio, light, dark } = madeOf(hex);
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
        ]}
      />
      <div className="row">
        {(['light', 'dark'] as const).map((of) => (
          <div key={of} className="sample" style={{ background: surfaces[of].card, color: madeOf(hex)[of].ink }}>
            <strong>{name}</strong>
            <span style={{ background: hex, color: on }}>{t.logIn}</span>
            <small>{t[of]}</small>
          </div>
        ))}
      </div>
    </section>
  );
}
