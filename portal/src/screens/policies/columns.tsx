/** Columns beside each other that fold; below each other on narrow screens. Which are folded is kept in this browser. */
import { type ReactNode, useEffect, useState } from 'react';
import { Icon } from '../../ui/index.ts';

const stored = 'accord.policy.folded';
const foldedBefore = (): string[] => (localStorage.getItem(stored) ?? '').split(' ').filter(Boolean);

export type ColumnPart = { id: string; title: string; about?: ReactNode; content: ReactNode };

/** @param wanted a column that is opened when it is folded: once for each object */
export function Columns({ parts, wanted }: { parts: readonly ColumnPart[]; wanted: { id: string } | undefined }) {
  const [folded, setFolded] = useState(foldedBefore);
  useEffect(() => {
    if (wanted)
      setFolded((before) => (before.includes(wanted.id) ? before.filter((one) => one !== wanted.id) : before));
  }, [wanted]);
  const toggle = (id: string) => {
    const next = folded.includes(id) ? folded.filter((one) => one !== id) : [...folded, id];
    localStorage.setItem(stored, next.join(' '));
    setFolded(next);
  };
  return (
    <div className="policy-columns">
      {parts.map(({ id, title, about, content }) => {
        const isOpen = !folded.includes(id);
        return (
          <section key={id} className={`policy-column ${id} ${isOpen ? 'open' : 'folded'}`} aria-label={title}>
            <header>
              <h2>
                <button type="button" className="plain" aria-expanded={isOpen} onClick={() => toggle(id)}>
                  <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} size={14} /> {title}
                </button>
              </h2>
              {isOpen && about}
            </header>
            {isOpen && <div className="stack">{content}</div>}
          </section>
        );
      })}
    </div>
  );
}
