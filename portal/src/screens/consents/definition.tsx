/** One definition: its time line, what users see at an instant, its documents, and how far users have come. */
import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useRouteParams } from '../../core/address.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useLanguage, useTexts } from '../../core/texts.ts';
import { Owned, storedYaml } from '../../manifests/index.ts';
import { curl, Empty, Notice, PageHeader, ProblemAlert, ShowAs, useNow, WithPanel } from '../../ui/index.ts';
import { Adoption, Remaining } from './adoption.tsx';
import { type Changed, DocumentForm } from './document-form.tsx';
import { Documents } from './documents.tsx';
import { Preview } from './preview.tsx';
import { changesOf } from './scale.ts';
import { languagesOf, pathOfDefinition, type Tree, useTree, versionsOf } from './shapes.ts';
import { DocumentText } from './text.tsx';
import { texts } from './texts.ts';
import { TimeLine } from './time-line.tsx';
import { type ChangedEnd, EndForm, VersionForm } from './version-form.tsx';
import './consents.css';

/** What stands in the panel beside the page. */
export type Open =
  | { kind: 'version' }
  | { kind: 'document'; changed?: Changed }
  | { kind: 'left'; version: string }
  | { kind: 'end'; version: string; changed?: ChangedEnd }
  | { kind: 'text'; version: string; language: string; document: string };

const ofDefinition = (name: string) => ({ kind: 'ConsentDefinition', name });

export default function DefinitionPage() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const name = useRouteParams().name ?? '';
  const found = useTree(name);
  const tree = found.data;
  return (
    <>
      <PageHeader
        title={name}
        about={t.definitionAbout}
        back={{ to: '/consents', label: t.title }}
        actions={
          <ShowAs
            curl={curl(api.path(`${pathOfDefinition(name)}/tree`))}
            {...(tree && !tree.config.archived && { manifest: storedYaml(api, ofDefinition(name)) })}
          />
        }
      />
      {found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      {tree && <Shown key={`${tenant.code} ${name}`} tree={tree} />}
    </>
  );
}

function Shown({ tree }: { tree: Tree }) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const now = useNow() || Date.now();
  const [moved, setMoved] = useState<number>();
  const [open, setOpen] = useState<Open>();
  const isManaged = tree.managedBy !== 'api';
  const mayEdit = mayDo(tenant.role, 'edit') && !isManaged && !tree.config.archived;
  const versions = versionsOf(tree);
  const languages = languagesOf(tree);
  const at = moved ?? now;
  return (
    <WithPanel
      panel={
        open && (
          <Panel
            {...{ tree, now, open }}
            onClose={() => setOpen((current) => (current === open ? undefined : current))}
          />
        )
      }
    >
      <Owned of={ofDefinition(tree.config.name)} owner={tree.managedBy} />
      <div className="row">
        {mayEdit && (
          <>
            <Button variant="default" onClick={() => setOpen({ kind: 'version' })}>
              {t.newVersion}
            </Button>
            {versions.length > 0 && (
              <Button variant="default" onClick={() => setOpen({ kind: 'document' })}>
                {t.newDocument}
              </Button>
            )}
          </>
        )}
      </div>
      {tree.config.archived && <Notice tone="warn">{t.archived}</Notice>}
      {versions.length === 0 ? (
        <Empty sentence={t.noVersions} />
      ) : (
        <Section title={t.timeLine}>
          <p className="dim">{t.timeLineAbout}</p>
          <TimeLine {...{ versions, now, at }} onMove={setMoved} />
          <Changes {...{ versions, at }} onMove={setMoved} onToday={() => setMoved(undefined)} />
        </Section>
      )}
      {languages.length > 0 && !tree.config.archived && (
        <Section title={t.whoSees}>
          <SeenWhen at={at} isNow={moved === undefined} />
          <Preview {...{ versions, languages, at }} />
        </Section>
      )}
      {versions.length > 0 && <Documents {...{ tree, now, mayEdit }} onOpen={setOpen} />}
      {mayDo(tenant.role, 'edit') && versions.length > 0 && <Adoption name={tree.config.name} onOpen={setOpen} />}
    </WithPanel>
  );
}

const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="card stack" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
);

function SeenWhen({ at, isNow }: { at: number; isNow: boolean }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const exact = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' });
  return <p role="status">{isNow ? t.seenNow : t.seenAt(`${exact.format(at)} UTC`)}</p>;
}

type ChangesProps = {
  versions: ReturnType<typeof versionsOf>;
  at: number;
  onMove: (at: number) => void;
  onToday: () => void;
};

/** The same as the picture in words; each moves "today" to its instant. */
function Changes({ versions, at, onMove, onToday }: ChangesProps) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const exact = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  return (
    <details>
      <summary>{t.changes}</summary>
      <ol>
        {changesOf(versions).map((one) => (
          <li key={`${one.kind} ${one.version} ${one.document} ${one.language}`}>
            <button type="button" className="plain" aria-pressed={at === one.at} onClick={() => onMove(one.at)}>
              <span className="mono">{exact.format(one.at)}</span>{' '}
              {t.change[one.kind](one.version, `${one.document}, ${one.language}`)}
            </button>
          </li>
        ))}
      </ol>
      <button type="button" className="plain chip" onClick={onToday}>
        {t.backToToday}
      </button>
    </details>
  );
}

function Panel({ tree, now, open, onClose }: { tree: Tree; now: number; open: Open; onClose: () => void }) {
  const { name } = tree.config;
  switch (open.kind) {
    case 'version':
      return <VersionForm {...{ tree, onClose }} />;
    case 'document':
      return <DocumentForm key={open.changed?.config.version} {...{ tree, now, onClose }} changed={open.changed} />;
    case 'end':
      return <EndForm key={open.version} {...{ tree, now, onClose }} version={open.version} changed={open.changed} />;
    case 'left':
      return <Remaining key={open.version} {...{ name, onClose }} version={open.version} />;
    case 'text':
      return <DocumentText key={JSON.stringify(open)} {...{ name, now, onClose }} document={open} />;
  }
}
