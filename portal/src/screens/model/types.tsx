/** The types and what relates them: as a picture, or as lists that say the same. */
import { Button } from '@mantine/core';
import { useMemo } from 'react';
import { useFilters } from '../../core/address.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { curl, DataTable, Empty, Icon, ProblemAlert, ShowAs, State, WithPanel } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { Details } from './details.tsx';
import { Named, useNames } from './display-names.tsx';
import { Flow } from './flow.tsx';
import { useModel } from './load.ts';
import { manifestsOf } from './manifest.ts';
import { ModelPage } from './page.tsx';
import { RelationshipTypeForm } from './relationship-type-form.tsx';
import { idOf, pictureOf, sentenceOf } from './sentences.ts';
import type { Model } from './shapes.ts';
import { texts } from './texts.ts';
import { TypeForm } from './type-form.tsx';

const emptyManifest = (tenant: string) => `apiVersion: accord.dev/v1alpha1
kind: ActorType
metadata: {name: user, namespace: ${tenant}}
spec:
  tenantRef: {name: ${tenant}}
  name: user`;

export default function Types() {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const [{ open, view, make }, set] = useFilters(['open', 'view', 'make']);
  const found = useModel();
  const model = found.data;
  const chosen = model && [...model.types, ...model.relationships].find((one) => idOf(one) === open);
  const close = () => set({ open: undefined, make: undefined });
  const panel =
    model && make === 'type' ? (
      <TypeForm onClose={close} onDone={(id) => set({ make: undefined, open: id })} />
    ) : model && make === 'relationship' ? (
      <RelationshipTypeForm model={model} onClose={close} onDone={(id) => set({ make: undefined, open: id })} />
    ) : (
      model && chosen && <Details key={open} of={chosen} model={model} onClose={close} />
    );
  const isEmpty = model?.types.length === 0;
  return (
    <ModelPage
      place="types"
      about={t.about}
      actions={
        <>
          <ShowAs curl={curl(api.path('/relationship-types'))} manifest={model && manifestsOf(tenant.code, model)} />
          {mayDo(tenant.role, 'edit') && (
            <>
              <Button variant="default" leftSection={<Icon name="plus" />} onClick={() => set({ make: 'type' })}>
                {t.newType}
              </Button>
              {!isEmpty && (
                <Button leftSection={<Icon name="plus" />} onClick={() => set({ make: 'relationship' })}>
                  {t.newRelationshipType}
                </Button>
              )}
            </>
          )}
        </>
      }
    >
      {found.error && <ProblemAlert error={found.error} onRetry={() => found.refetch()} />}
      {found.isLoading && <p role="status">{ui.loading}</p>}
      <WithPanel panel={panel}>
        {isEmpty ? (
          <Empty
            sentence={t.noTypes}
            call={curl(api.path('/actor-types/user'), { method: 'PUT', body: {} })}
            manifest={emptyManifest(tenant.code)}
          />
        ) : (
          model && (
            <Shown
              model={model}
              view={view}
              open={open}
              onView={(to) => set({ view: to })}
              onOpen={(id) => set({ open: id, make: undefined })}
            />
          )
        )}
      </WithPanel>
    </ModelPage>
  );
}

type ShownProps = {
  model: Model;
  view?: string;
  open?: string;
  onView: (to?: string) => void;
  onOpen: (id: string) => void;
};

function Shown({ model, view, open, onView, onOpen }: ShownProps) {
  const t = useTexts(texts);
  const names = useNames(model);
  const picture = useMemo(() => pictureOf(model, t, names), [model, t, names]);
  const isList = view === 'list';
  return (
    <>
      <fieldset className="chips plain" aria-label={t.view}>
        {[undefined, 'list'].map((one) => (
          <button
            key={one ?? 'picture'}
            type="button"
            className={`plain chip ${(one === 'list') === isList ? 'on' : ''}`}
            aria-pressed={(one === 'list') === isList}
            onClick={() => onView(one)}
          >
            {one === 'list' ? t.asList : t.asPicture}
          </button>
        ))}
      </fieldset>
      {isList ? (
        <Lists model={model} open={open} onOpen={onOpen} />
      ) : (
        <>
          <Flow label={t.picture} {...picture} selected={open} onOpen={onOpen} />
          <Legend />
          <Sentences model={model} />
        </>
      )}
    </>
  );
}

function Legend() {
  const t = useTexts(texts);
  return (
    <p className="legend">
      <span>
        <svg width="34" height="8" aria-hidden="true" stroke="var(--dim)" fill="none">
          <path d="M1 4h30m-5-3 5 3-5 3" />
        </svg>
        {t.legendRelates}
      </span>
      <span>
        <svg width="34" height="8" aria-hidden="true" stroke="var(--series-4)">
          <path d="M1 4h32" strokeDasharray="5 4" strokeWidth="1.5" />
        </svg>
        {t.legendInherits}
      </span>
    </p>
  );
}

function Sentences({ model }: { model: Model }) {
  const t = useTexts(texts);
  const names = useNames(model);
  const all = model.relationships.flatMap(({ spec }) =>
    (spec.inheritedThrough ?? []).map((one) => sentenceOf(spec.name, one, t, names)),
  );
  if (all.length === 0) return null;
  return (
    <section>
      <h2>{t.inheritance}</h2>
      <ul>
        {all.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </section>
  );
}

function Lists({ model, open, onOpen }: { model: Model; open?: string; onOpen: (id: string) => void }) {
  const t = useTexts(texts);
  const names = useNames(model);
  const owner = (managedBy: string) => (managedBy === 'api' ? t.api : managedBy);
  return (
    <>
      <h2>{t.types}</h2>
      <DataTable
        label={t.types}
        pages={{ rows: model.types }}
        rowKey={idOf}
        selected={open}
        onOpen={(one) => onOpen(idOf(one))}
        columns={[
          { id: 'name', header: t.name, cell: ({ spec }) => <Named name={spec.name} names={names} /> },
          { id: 'kind', header: t.kind, cell: ({ kind }) => t.kindNames[kind] },
          { id: 'attributes', header: t.attributes, cell: ({ spec }) => Object.keys(spec.attributes ?? {}).join(', ') },
          { id: 'owner', header: t.owner, cell: ({ spec }) => owner(spec.managedBy) },
        ]}
      />
      <h2>{t.relationshipTypes}</h2>
      <DataTable
        label={t.relationshipTypes}
        pages={{ rows: model.relationships }}
        rowKey={idOf}
        selected={open}
        onOpen={(one) => onOpen(idOf(one))}
        empty={<p className="dim">{t.noRelationshipTypes}</p>}
        columns={[
          { id: 'name', header: t.name, cell: ({ spec }) => <Named name={spec.name} names={names} /> },
          {
            id: 'inherited',
            header: t.inheritance,
            cell: ({ spec }) =>
              (spec.inheritedThrough ?? []).map((one) => sentenceOf(spec.name, one, t, names)).join(' '),
          },
          {
            id: 'shared',
            header: t.shared,
            cell: ({ spec }) =>
              spec.invitation && spec.invitation.enabled !== false ? <State tone="ok">{t.yes}</State> : t.no,
          },
          { id: 'owner', header: t.owner, cell: ({ spec }) => owner(spec.managedBy) },
        ]}
      />
    </>
  );
}
