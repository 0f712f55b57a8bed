/** What a mail by the texts that are being written looks like. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { ApiProblem, NoAnswer } from '../../core/problem.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { HtmlFrame } from '../../ui/html-frame.tsx';
import { CodeBlock, ProblemAlert } from '../../ui/index.ts';
import { type Part, type PartProblem, type PartProblems, type Parts, partNames } from './template-parts.tsx';
import { texts } from './texts.ts';

type Shown = { subject: string; text: string; html?: string };
export type Previewed = {
  shown?: Shown & { count: number };
  /** What is shown is of the texts before. */
  isOld: boolean;
  problems: PartProblems;
  /** Another refusal. */
  error?: unknown;
};

const pauseMs = 300;
/** A server that is away is asked again until it is back. */
const awayMs = 3000;
const none: PartProblems = { subject: [], html: [], text: [] };

type Asked = { path: string; parts: Parts; isBuiltIn: boolean };

/** After each pause of typing. Of a name that is not built in nobody knows the values: its variables are shown by their names. */
export function usePreview({ path, parts, isBuiltIn }: Asked): Previewed {
  const { api } = useTenant();
  const [found, setFound] = useState<Previewed>({ isOld: false, problems: none });
  const body = isBuiltIn ? parts : { ...parts, variables: namesIn(parts), lenient: true };
  const latest = useRef(body);
  latest.current = body;
  const key = JSON.stringify(body);
  // biome-ignore lint/correctness/useExhaustiveDependencies: key has what is asked
  useEffect(() => {
    const stop = new AbortController();
    const ask = async () => {
      try {
        const { data } = await api.post<Shown>(`${path}/preview`, { body: latest.current, signal: stop.signal });
        setFound(({ shown }) => ({ shown: { ...data, count: (shown?.count ?? 0) + 1 }, isOld: false, problems: none }));
      } catch (error) {
        if (stop.signal.aborted) return;
        setFound(({ shown }) => ({ ...(shown && { shown }), isOld: true, ...said(error) }));
        if (error instanceof NoAnswer) timer = setTimeout(ask, awayMs);
      }
    };
    let timer = setTimeout(ask, pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [api, path, key]);
  return found;
}

/** The names that a template reads, those of members below them, each as its own value. Too many do no harm. */
export function namesIn(parts: Parts): Record<string, unknown> {
  const all: Record<string, unknown> = {};
  const inside = partNames.flatMap((part) => [...(parts[part] ?? '').matchAll(/\{[{%]([^{}]*)[%}]\}/g)]);
  for (const [, text = ''] of inside) {
    const read = text.replaceAll(/"[^"]*"|'[^']*'/g, ' ').matchAll(/(?<![\w.-])[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*/g);
    for (const [path] of read) put(all, path.split('.'));
  }
  return all;
}

function put(into: Record<string, unknown>, [name = '', ...below]: string[]): void {
  const value = Object.hasOwn(into, name) ? into[name] : undefined;
  if (below.length === 0) {
    if (value === undefined) set(into, name, name);
    return;
  }
  const members = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  set(into, name, members);
  put(members, below);
}

/** Also what is called __proto__ is a member. */
const set = (into: object, name: string, value: unknown) =>
  Object.defineProperty(into, name, { value, enumerable: true, writable: true, configurable: true });

function said(error: unknown): Pick<Previewed, 'problems' | 'error'> {
  const places = error instanceof ApiProblem ? error.places : [];
  const of = (part: Part): PartProblem[] =>
    places
      .filter(({ pointer }) => pointer === `/${part}`)
      .map(({ line, column, detail }) => ({
        ...{ detail, ...(line !== undefined && { line }), ...(column !== undefined && { column }) },
      }));
  const problems = { subject: of('subject'), html: of('html'), text: of('text') };
  const isPlaced = places.length > 0 && places.every(({ pointer }) => partNames.some((one) => pointer === `/${one}`));
  return { problems, ...(!isPlaced && { error }) };
}

export function TemplatePreview({ previewed: { shown, isOld, error } }: { previewed: Previewed }) {
  const t = useTexts(texts);
  const { html, count } = shown ?? {};
  // Made anew for another text only, so that it does not flicker.
  const frame = useMemo(
    () => html !== undefined && <HtmlFrame key={html} html={html} title={t.previewHtml} />,
    [html, t],
  );
  return (
    <section className="card stack template-preview" aria-label={t.preview} data-count={count}>
      {error !== undefined && <ProblemAlert error={error} />}
      {isOld && shown && <p className="dim">{t.previewOld}</p>}
      {shown && (
        <>
          <h2>{shown.subject}</h2>
          {frame}
          {html !== undefined && (
            <>
              <p className="dim">{t.previewLimits}</p>
              <details>
                <summary>{t.previewSource}</summary>
                <CodeBlock code={html} />
              </details>
            </>
          )}
          <h3>{t.previewText}</h3>
          <CodeBlock code={shown.text} />
        </>
      )}
    </section>
  );
}
