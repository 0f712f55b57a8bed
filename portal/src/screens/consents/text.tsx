/** The text of a document as it is served, with its digest, which the browser computes again. */
import { useQuery } from '@tanstack/react-query';
import { segment } from '../../core/api.ts';
import { base } from '../../core/page.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Facts, Icon, ProblemAlert, RelativeTime, SidePanel, State } from '../../ui/index.ts';
import { type DocumentConfig, pathOfDocument } from './shapes.ts';
import { texts } from './texts.ts';

type Props = {
  name: string;
  now: number;
  document: { version: string; language: string; document: string };
  onClose: () => void;
};

/** Undefined: the page is not in a secure context, where browsers compute none. */
async function digestOf(text: string): Promise<string | undefined> {
  if (globalThis.crypto?.subtle === undefined) return undefined;
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return `sha256:${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

export function DocumentText({ name, now, document: { version, language, document }, onClose }: Props) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const found = useQuery({
    queryKey: ['consents', tenant.code, 'text', name, version, language, document],
    queryFn: async ({ signal }) => {
      const path = pathOfDocument(name, version, { language, version: document });
      const { config } = (await api.get<{ config: DocumentConfig }>(path, { signal })).data;
      const body = config.content?.body;
      return { config, computed: body === undefined ? undefined : await digestOf(body) };
    },
  });
  const title = `${name} ${version}`;
  const { config, computed } = found.data ?? {};
  const { content } = config ?? {};
  const isServed = config !== undefined && Date.parse(config.effectiveDate) <= now && content !== undefined;
  const served = [tenant.code, 'consents', 'documents', name, version, document, language].map(segment).join('/');
  return (
    <SidePanel label={t.text} title={title} onClose={onClose}>
      {found.error && <ProblemAlert error={found.error} />}
      {config && (
        <div className="stack">
          <Facts
            facts={[
              [t.document, `${document}, ${language}`],
              [
                t.effectiveDate,
                <span key="at">
                  <RelativeTime at={config.effectiveDate} /> <span className="dim">{config.effectiveDate}</span>
                </span>,
              ],
            ]}
          />
          {content === undefined && <p className="dim">{t.noText}</p>}
          {content && <h3>{content.title}</h3>}
          {content?.body !== undefined && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
            <pre className="text-shown" tabIndex={0} lang={language}>
              {content.body}
            </pre>
          )}
          {content?.url !== undefined && <p className="digest">{`${t.textElsewhere} ${content.url}`}</p>}
          {content?.digest !== undefined && (
            <p className="digest">
              {content.url === undefined ? t.digest : t.digestStated} <span className="mono">{content.digest}</span>{' '}
              {computed !== undefined &&
                (computed === content.digest ? (
                  <State tone="ok">{t.digestMatches}</State>
                ) : (
                  <State tone="bad">{t.digestDiffers}</State>
                ))}
            </p>
          )}
          {isServed && (
            <p>
              <a href={`${base}/${served}`} target="_blank" rel="noreferrer">
                {t.asServed} <Icon name="external" size={12} />
              </a>
            </p>
          )}
        </div>
      )}
    </SidePanel>
  );
}
