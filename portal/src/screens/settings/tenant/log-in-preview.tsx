/** The log-in page as it would look, drawn by the server. It is drawn again when nothing was typed for a moment. */
import { useEffect, useState } from 'react';
import { useLanguage, useTexts } from '../../../core/texts.ts';
import { PostedFrame } from '../../../ui/html-frame.tsx';
import type { Form } from './branding.ts';
import { texts } from './texts.ts';

const PAUSE_MS = 500;

export function LogInPreview({ of: { displayName, logo, colour, background, languages } }: { of: Form }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const typed = JSON.stringify({
    ...{ name: displayName.trim(), logo: logo.trim(), colour: colour.trim(), background: background.trim() },
    language: languages[0] ?? language,
  });
  const [shown, setShown] = useState(typed);
  useEffect(() => {
    const timer = setTimeout(() => setShown(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <section className="stack" aria-label={t.logInPage}>
      <h2>{t.logInPage}</h2>
      <p className="dim">{t.logInPageAbout}</p>
      <div className="previews">
        {(['light', 'dark'] as const).map((scheme) => (
          <PostedFrame
            key={`${scheme} ${shown}`}
            title={`${t.logInPage}: ${t[scheme]}`}
            action="/frame/log-in"
            fields={{ ...JSON.parse(shown), scheme }}
            sandbox="allow-same-origin"
            className="page-frame"
          />
        ))}
      </div>
    </section>
  );
}
