/** One of a list: what it is, a few lines on it, and what the person may do with it. */
import type { ReactNode } from 'react';
import { useLanguage } from '../core/texts.ts';

type Props = { title: ReactNode; lines: readonly ReactNode[]; actions?: ReactNode; children?: ReactNode };

export const Thing = ({ title, lines, actions, children }: Props) => (
  <li className="card thing">
    <div className="words">
      <strong>{title}</strong>
      {lines.map(
        (line, index) =>
          line && (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines that do not move
            <p key={index} className="dim">
              {line}
            </p>
          ),
      )}
    </div>
    {actions && <div className="acts">{actions}</div>}
    {children && <div className="wide">{children}</div>}
  </li>
);

type ListProps = { title: string; empty: string; isLoading: boolean; children: readonly ReactNode[] };

export const Things = ({ title, empty, isLoading, children }: ListProps) => (
  <section>
    <h2>{title}</h2>
    {children.length > 0 ? (
      <ul className="things">{children}</ul>
    ) : isLoading ? (
      <span className="skeleton" />
    ) : (
      <p className="dim">{empty}</p>
    )}
  </section>
);

/** What the tenant calls the types, in the language of the page. */
export type DisplayNames = { relationshipType: string; type: string };

/** What something is called: car car-7. */
export const nameOf = (displayNames: DisplayNames, { id }: { id: string }) => `${displayNames.type} ${id}`;

/** A day, with the exact instant on hover. */
export function Day({ at }: { at: string }) {
  const { language } = useLanguage();
  const date = new Date(at);
  return (
    <time dateTime={at} title={date.toLocaleString(language, { dateStyle: 'full', timeStyle: 'long' })}>
      {date.toLocaleDateString(language, { dateStyle: 'long' })}
    </time>
  );
}
