// biome-ignore-all lint/a11y/noRedundantRoles: cards are no table any more to browsers that go by `display`
/**
 * A list: a head that stays, rows by keyboard (arrows, Home, End, Enter), pages by cursor. On a narrow screen each row is a card. That is
 * done by style alone, and the roles are said, so that it is the same table to screen readers.
 */
import { Button } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useId } from 'react';
import type { Pages } from '../core/query.ts';
import { ProblemAlert } from './problem-alert.tsx';
import { useUiTexts } from './texts.ts';

export type Column<T> = {
  id: string;
  /** '' for a column of actions. */
  header: string;
  cell: (row: T) => ReactNode;
  numeric?: boolean;
  width?: string;
};

type Props<T> = {
  /** What the table is of, for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  /** From usePages, or {rows} alone for a list that is complete. */
  pages: Pages<T> | { rows: readonly T[] };
  rowKey: (row: T) => string;
  /** Enter or a click on the row. */
  onOpen?: (row: T) => void;
  selected?: string;
  /** Shown instead of the table where there are no rows. */
  empty?: ReactNode;
};

export function DataTable<T>({ label, columns, pages, rowKey, onOpen, selected, empty }: Props<T>) {
  const texts = useUiTexts();
  const more = 'isLoading' in pages ? pages : undefined;
  const caption = useId();
  const { rows } = pages;
  if (more?.error && rows.length === 0) return <ProblemAlert error={more.error} onRetry={more.reload} />;
  // A page that was searched may have none, and another one behind it.
  if (rows.length === 0 && !more?.isLoading && !more?.hasMore) return empty ?? <p className="dim">{texts.noRows}</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by keyboard
    <section className="table-box" aria-labelledby={caption} tabIndex={0}>
      <table className="data cards" role="table" aria-busy={more?.isLoading ?? false}>
        <caption className="visually-hidden" id={caption}>
          {label}
        </caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ id, header, numeric, width }) =>
              header === '' ? (
                <td key={id} role="cell" style={{ width }} />
              ) : (
                <th
                  key={id}
                  role="columnheader"
                  scope="col"
                  className={numeric ? 'numeric' : undefined}
                  style={{ width }}
                >
                  {header}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody role="rowgroup" onKeyDown={moveBetweenRows}>
          {more?.isLoading && rows.length === 0 ? (
            <Skeletons columns={columns.length} />
          ) : (
            rows.map((row, index) => {
              const key = rowKey(row);
              return (
                <Row key={key} first={index === 0} selected={key === selected} onOpen={onOpen && (() => onOpen(row))}>
                  {columns.map(({ id, header, cell, numeric }) => (
                    <td key={id} role="cell" data-label={header} className={numeric ? 'numeric' : undefined}>
                      <div className="value">{cell(row)}</div>
                    </td>
                  ))}
                </Row>
              );
            })
          )}
        </tbody>
      </table>
      {more && <Foot pages={more} />}
    </section>
  );
}

type RowProps = { first: boolean; selected: boolean; onOpen?: () => void; children: ReactNode };

const Row = ({ first, selected, onOpen, children }: RowProps) => (
  <tr
    role="row"
    tabIndex={first || selected ? 0 : -1}
    aria-selected={selected || undefined}
    className={onOpen ? 'opens' : undefined}
    onClick={(event) => {
      // A click on a link or a button inside is theirs, and so is marking text.
      if ((event.target as Element).closest('a, button, input, label') || String(getSelection()) !== '') return;
      onOpen?.();
    }}
    onKeyDown={(event) => {
      if (event.key === 'Enter' && event.target === event.currentTarget) onOpen?.();
    }}
  >
    {children}
  </tr>
);

function moveBetweenRows(event: KeyboardEvent<HTMLElement>): void {
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('tr')];
  const at = rows.indexOf(event.target as HTMLElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  rows[to]?.focus();
}

const Skeletons = ({ columns }: { columns: number }) =>
  Array.from({ length: 6 }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
    <tr key={row} role="row">
      <td role="cell" colSpan={columns}>
        <span className="skeleton" />
      </td>
    </tr>
  ));

function Foot<T>({ pages }: { pages: Pages<T> }) {
  const texts = useUiTexts();
  const { rows, hasMore, isLoadingMore, loadMore, retry, error } = pages;
  return (
    <div className="table-foot dim">
      <span role="status">{hasMore ? texts.rowsMore(rows.length) : texts.rows(rows.length)}</span>
      {hasMore && (
        <Button variant="default" loading={isLoadingMore} onClick={loadMore}>
          {texts.loadMore}
        </Button>
      )}
      {error && rows.length > 0 && <ProblemAlert error={error} onRetry={retry} />}
    </div>
  );
}
