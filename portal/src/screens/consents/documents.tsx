/** All documents of a definition, by version, with what may still change. */
import { useState } from 'react';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { DataTable, ProblemAlert, RelativeTime, State } from '../../ui/index.ts';
import type { Open } from './definition.tsx';
import { activeAt } from './seen.ts';
import { type DocumentConfig, type EndOfLife, pathOfDocument, pathOfEnd, type Tree, versionsOf } from './shapes.ts';
import { texts } from './texts.ts';

type Row = { version: string; config: DocumentConfig };
type Props = { tree: Tree; now: number; mayEdit: boolean; onOpen: (open: Open) => void };

export function Documents({ tree, now, mayEdit, onOpen }: Props) {
  const t = useTexts(texts);
  const { api } = useTenant();
  const [error, setError] = useState<unknown>();
  const rows = tree.versions.flatMap(({ config: { version }, documents }) =>
    documents.map(({ config }): Row => ({ version, config })),
  );
  const change = ({ version, config }: Row) => {
    setError(undefined);
    api
      .get<{ config: DocumentConfig }>(pathOfDocument(tree.config.name, version, config))
      .then(
        ({ data, etag }) => onOpen({ kind: 'document', changed: { version, config: data.config, etag } }),
        setError,
      );
  };
  return (
    <section className="stack">
      <h2>{t.documents}</h2>
      {error !== undefined && <ProblemAlert error={error} />}
      <DataTable
        label={t.documents}
        pages={{ rows }}
        rowKey={({ version, config }) => `${version}\n${config.language}\n${config.version}`}
        onOpen={({ version, config }) =>
          onOpen({ kind: 'text', version, language: config.language, document: config.version })
        }
        empty={<p className="dim">{t.noDocuments}</p>}
        columns={[
          { id: 'version', header: t.version, cell: ({ version }) => version },
          { id: 'document', header: t.document, cell: ({ config }) => config.version },
          { id: 'language', header: t.language, cell: ({ config }) => config.language },
          { id: 'state', header: t.state, cell: (row) => <DocumentState {...{ tree, now, row }} /> },
          { id: 'date', header: t.effectiveDate, cell: ({ config }) => <RelativeTime at={config.effectiveDate} /> },
          { id: 'title', header: t.textTitle, cell: ({ config }) => config.content?.title ?? '' },
          {
            id: 'actions',
            header: '',
            cell: (row) =>
              mayEdit &&
              Date.parse(row.config.effectiveDate) > now && (
                <button type="button" className="plain chip" onClick={() => change(row)}>
                  {t.changeIt}
                </button>
              ),
          },
        ]}
      />
      {mayEdit && <Ends {...{ tree, now, onOpen }} onError={setError} />}
    </section>
  );
}

function DocumentState({ tree, now, row: { version, config } }: { tree: Tree; now: number; row: Row }) {
  const t = useTexts(texts);
  if (Date.parse(config.effectiveDate) > now) return <State tone="accent">{t.planned}</State>;
  const active = tree.config.archived ? undefined : activeAt(versionsOf(tree), config.language, now);
  const isActive = active?.version.version === version && active.document.version === config.version;
  return isActive ? <State tone="ok">{t.offered}</State> : <State tone="none">{t.past}</State>;
}

/** Ends of life, until each begins. */
function Ends({ tree, now, onOpen, onError }: Omit<Props, 'mayEdit'> & { onError: (error: unknown) => void }) {
  const t = useTexts(texts);
  const { api } = useTenant();
  const change = (version: string) => {
    onError(undefined);
    api
      .get<{ config: EndOfLife }>(pathOfEnd(tree.config.name, version))
      .then(({ data, etag }) => onOpen({ kind: 'end', version, changed: { config: data.config, etag } }), onError);
  };
  return (
    <div className="chips">
      {tree.versions
        .filter(({ config: { endOfLife } }) => endOfLife === undefined || Date.parse(endOfLife.startDate) > now)
        .map(({ config: { version, endOfLife } }) => (
          <button
            key={version}
            type="button"
            className="plain chip"
            onClick={() => (endOfLife ? change(version) : onOpen({ kind: 'end', version }))}
          >
            {endOfLife ? t.changeEnd(version) : t.planEnd(version)}
          </button>
        ))}
    </div>
  );
}
