/** What a consent says. The server gives HTML as plain text, which is shown as text. */
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { Icon } from '../ui/icons.tsx';
import { ProblemAlert } from '../ui/problem-alert.tsx';
import { useSharingTexts } from './texts.ts';

export type Content = { title: string; mediaType: string; digest?: string; url: string };

/** @returns undefined: the text is elsewhere, where this page may not ask */
async function read(url: string, signal: AbortSignal): Promise<string | null> {
  const answer = await fetch(new URL(url).pathname, { headers: { accept: 'text/plain' }, redirect: 'manual', signal });
  if (answer.type === 'opaqueredirect') return null;
  if (!answer.ok) throw new Error(`The text could not be read (${answer.status}).`);
  return answer.text();
}

type Props = { content: Content; language: string; isOpen?: boolean };

export function DocumentText({ content, language, isOpen: opens = false }: Props) {
  const t = useSharingTexts();
  const [isOpen, setOpen] = useState(opens);
  const region = useId();
  const { data, error, refetch } = useQuery({
    queryKey: ['text', content.url],
    queryFn: ({ signal }) => read(content.url, signal),
    enabled: isOpen,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <div className="stack">
      <div className="row">
        <button
          type="button"
          className="plain chip"
          aria-expanded={isOpen}
          aria-controls={region}
          aria-label={`${isOpen ? t.consents.hide : t.consents.read}: ${content.title}`}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} /> {isOpen ? t.consents.hide : t.consents.read}
        </button>
      </div>
      <div id={region} hidden={!isOpen}>
        {error && <ProblemAlert error={error} onRetry={() => void refetch()} />}
        {data === null && (
          <p>
            {t.consents.elsewhere}:{' '}
            <a href={content.url} target="_blank" rel="noreferrer">
              {t.consents.opens}
            </a>
          </p>
        )}
        {typeof data === 'string' && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by keyboard
          <pre className="document-text" lang={language} tabIndex={0}>
            {data}
          </pre>
        )}
      </div>
    </div>
  );
}
