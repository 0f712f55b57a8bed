/** The types and what relates them: as a picture, or as lists that say the same. */
import { Button } from '@mantine/core';
import { useCallback, useState } from 'react';
import { useFilters } from '../../core/address.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { useModel } from '../../model/load.ts';
import { Named, useNames } from '../../model/names.tsx';
import type { Inheritance, Model } from '../../model/shapes.ts';
import { curl, DataTable, Empty, Icon, ProblemAlert, ShowAs, State, WithPanel } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { Details } from './details.tsx';
import { manifestOf, manifestsOf } from './manifest.ts';
import { ModelPage } from './page.tsx';
import type { Picking, Proposal } from './picking.ts';
import { Picture, type PictureProps } from './picture.tsx';
import { RelationshipTypeForm } from './relationship-type-form.tsx';
import { idOf, sentenceOf } from './sentences.ts';
import { texts } from './texts.ts';
import { TypeForm } from './type-form.tsx';

export default function Types() {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const [{ open, view, make, from, to, through }, set] = useFilters(['open', 'view', 'make', 'from', 'to', 'through']);
  const found = useModel();
  const model = found.data;
  const chosen = model && [...model.types, ...model.relationships].find((one) => idOf(one) === open);
  const [picking, setPicking] = useState<Picking>();
  const go = useCallback(
    (to: Partial<Record<'open' | 'make' | 'from' | 'to' | 'through', string | undefined>>) => {
      setPicking(undefined);
      set({ open: undefined, make: undefined, from: undefined, to: undefined, through: undefined, ...to });
    },
    [set],
  );
  const propose = useCallback(
    (one: Proposal) => {
      if ('heir' in one) return go({ open: `relationship-types/${one.heir}`, through: throughOf(one.pair) });
      const { through, ...rest } = one;
      go({ ...rest, through: through && throughOf(through) });
    },
    [go],
  );
  const close = () => go({});
  const pair = pairIn(through);
  const panel =
    model && make === 'type' ? (
      <TypeForm onClose={close} onDone={(id) => go({ open: id })} />
    ) : model && make === 'relationship' ? (
      <RelationshipTypeForm
        key={`${from} ${to} ${through}`}
        {...{ model, proposed: { from, to, through: pair } }}
        onClose={close}
        onDone={(id) => go({ open: id })}
      />
    ) : (
      model &&
      chosen && (
        <Details
          key={`${open} ${through}`}
          {...{ of: chosen, model, proposed: pair, onClose: close }}
          onPick={(next) => {
            if (view !== undefined) set({ view: undefined });
            setPicking(next);
          }}
        />
      )
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
              <Button variant="default" leftSection={<Icon name="plus" />} onClick={() => go({ make: 'type' })}>
                {t.newType}
              </Button>
              {!isEmpty && (
                <Button leftSection={<Icon name="plus" />} onClick={() => go({ make: 'relationship' })}>
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
            manifest={manifestOf(tenant.code, 'actor-types', { name: 'user' })}
          />
        ) : (
          model && (
            <Shown
              {...{ model, view, open, picking, onPick: setPicking, onPropose: propose }}
              onView={(next) => set({ view: next })}
              onOpen={(id) => go({ open: id })}
              onNewType={() => go({ make: 'type' })}
            />
          )
        )}
      </WithPanel>
    </ModelPage>
  );
}

/** A pair of relationship types, as an address has it. */
const throughOf = ({ relationship, from }: Inheritance) => `${relationship} ${from}`;
function pairIn(given: string | undefined): Inheritance | undefined {
  const [relationship, from] = (given ?? '').split(' ');
  return relationship && from ? { relationship, from } : undefined;
}

type ShownProps = PictureProps & { view: string | undefined; onView: (to?: string) => void };

function Shown({ view, onView, ...props }: ShownProps) {
  const t = useTexts(texts);
  const { model, open, onOpen } = props;
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
          <Picture {...props} />
          <Legend />
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
        <svg width="34" height="8" aria-hidden="true" stroke="var(--series-4)" fill="none">
          <path d="M1 8V2h32v6" strokeWidth="1.5" />
        </svg>
        {t.legendInherits}
      </span>
    </p>
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
