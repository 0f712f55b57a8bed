/** The picture of the types, which is edited in place: what is drawn or chosen in it opens a form that is filled in. */

import { Panel } from '@xyflow/react';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { useNames } from '../../model/names.tsx';
import { type Inheritance, type Model, partsOf, type Related, type Typed } from '../../model/shapes.ts';
import { Icon, ManagedBy } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { type Editing, Flow } from './flow.tsx';
import { boxesOf, choose, heirsOf, mayInherit, type Picking, type Proposal, pairOf } from './picking.ts';
import { RemoveInheritance, RemoveType } from './remove.tsx';
import { type Bracket, idOf, pictureOf, sentenceOf } from './sentences.ts';
import { texts } from './texts.ts';

export type PictureProps = {
  model: Model;
  open: string | undefined;
  picking: Picking | undefined;
  onPick: (to: Picking | undefined) => void;
  onOpen: (id: string | undefined) => void;
  onPropose: (proposal: Proposal) => void;
  onNewType: () => void;
};

const nameOf = (id: string) => id.slice(id.indexOf('/') + 1);
const isRelationship = (id: string) => id.startsWith('relationship-types/');
type Removed = { type: Typed | Related } | { bracket: Bracket };

export function Picture(props: PictureProps) {
  const { model, open, picking, onPick, onOpen, onPropose, onNewType } = props;
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const names = useNames(model);
  const { brackets, ...picture } = useMemo(() => pictureOf(model, t, names), [model, t, names]);
  const [removed, setRemoved] = useState<Removed>();
  const [said, setSaid] = useState<{ owner: string }>();
  const mayEdit = mayDo(tenant.role, 'edit');
  const find = (id: string) => [...model.types, ...model.relationships].find((one) => idOf(one) === id);
  const change = (of: Typed | Related, act: () => void) => {
    const owner = of.spec.managedBy;
    setSaid(owner === 'api' ? undefined : { owner });
    if (owner === 'api') act();
  };
  const keys = (key: string, id: string): boolean => {
    const [of, bracket] = [find(id), brackets.get(id)];
    if (key === 'Delete' || key === 'Backspace') {
      if (bracket) change(bracket.heir, () => setRemoved({ bracket }));
      else if (of) change(of, () => setRemoved({ type: of }));
    } else if (key === 'r' && of && !isRelationship(id)) onPick({ kind: 'relate', from: nameOf(id) });
    else if (key === 'i' && of && isRelationship(id))
      change(of, () => mayInherit(nameOf(id), model) && onPick({ kind: 'inherit', heir: nameOf(id), chosen: [] }));
    else return false;
    return true;
  };
  const press = (id: string, isMore: boolean) => {
    setSaid(undefined);
    const begun: Picking | undefined =
      picking ?? (mayEdit && isMore && isRelationship(id) ? { kind: 'inherit', chosen: [] } : undefined);
    if (begun === undefined) return onOpen(brackets.has(id) ? idOf((brackets.get(id) as Bracket).heir) : id);
    const next = choose(begun, id, model);
    if (next === undefined) return;
    if ('kind' in next) onPick(next);
    else onPropose(next);
  };
  const editing = useEditing(props, mayEdit, keys);
  return (
    <>
      {mayEdit && <Bar {...{ model, picking, onPick, onPropose }} owner={said?.owner} />}
      <Flow label={t.picture} {...picture} {...{ selected: open, onOpen: press, editing }}>
        {mayEdit && (
          <Panel position="top-right">
            <button type="button" className="plain chip" onClick={onNewType}>
              <Icon name="plus" /> {t.typeHere}
            </button>
          </Panel>
        )}
      </Flow>
      {removed && 'type' in removed && (
        <RemoveType
          of={removed.type}
          model={model}
          onClose={() => setRemoved(undefined)}
          onDone={() => onOpen(undefined)}
        />
      )}
      {removed && 'bracket' in removed && (
        <RemoveInheritance of={removed.bracket} model={model} onClose={() => setRemoved(undefined)} />
      )}
    </>
  );
}

const none: ReadonlySet<string> = new Set();

function useEditing(
  { model, picking, onPropose }: PictureProps,
  mayEdit: boolean,
  onKey: Editing['onKey'],
): Editing | undefined {
  const t = useTexts(texts);
  const marked = useMemo(() => picking && boxesOf(picking, model), [picking, model]);
  const onConnect = useCallback(
    (from: string, to: string) => onPropose({ make: 'relationship', from: nameOf(from), to: nameOf(to) }),
    [onPropose],
  );
  if (!mayEdit) return undefined;
  return { chosen: marked?.chosen ?? none, possible: marked?.possible, onConnect, onKey, keys: t.editKeys };
}

type BarProps = Pick<PictureProps, 'model' | 'picking' | 'onPick' | 'onPropose'> & { owner: string | undefined };

/** What is being chosen; otherwise how the picture is edited. */
function Bar({ model, picking, onPick, onPropose, owner }: BarProps) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const names = useNames(model);
  useEffect(() => {
    if (picking === undefined) return;
    const stop = ({ key, defaultPrevented }: KeyboardEvent) =>
      key === 'Escape' && !defaultPrevented && onPick(undefined);
    document.addEventListener('keydown', stop);
    return () => document.removeEventListener('keydown', stop);
  }, [picking, onPick]);
  if (picking === undefined)
    return (
      <p className="flow-bar dim">
        {owner === undefined ? (
          t.editHint
        ) : (
          <span role="status">
            <ManagedBy owner={owner} /> {t.managedWhy}
          </span>
        )}
      </p>
    );
  const isPair = picking.kind === 'inherit' && picking.chosen.length === 2;
  return (
    <div className="flow-bar picking">
      <span role="status">
        {picking.kind === 'relate'
          ? t.chooseEnd(names(picking.from))
          : isPair
            ? t.chooseHeir
            : picking.chosen.length === 1
              ? t.chooseSecond(names(picking.chosen[0] ?? ''))
              : t.chooseFirstOf(names(picking.heir ?? ''))}
      </span>
      {isPair && <Heirs pair={pairOf(picking.chosen)} {...{ model, onPropose }} chosen={picking.chosen} />}
      <button type="button" className="plain chip" onClick={() => onPick(undefined)}>
        {ui.cancel}
      </button>
    </div>
  );
}

type HeirsProps = Pick<PictureProps, 'model' | 'onPropose'> & { pair: Inheritance; chosen: readonly string[] };

/** Which relationship type is inherited through the two: each that leads from the one end to the other, or a new one. */
function Heirs({ pair, chosen, model, onPropose }: HeirsProps) {
  const t = useTexts(texts);
  const names = useNames(model);
  const [from, to] = [partsOf(pair.relationship).from, partsOf(pair.from).to];
  return (
    <>
      {heirsOf(chosen, model).map((heir) => (
        <button key={heir} type="button" className="plain chip" onClick={() => onPropose({ heir, pair })}>
          {sentenceOf(heir, pair, t, names)}
        </button>
      ))}
      <button
        type="button"
        className="plain chip"
        onClick={() => onPropose({ make: 'relationship', from, to, through: pair })}
      >
        <Icon name="plus" /> {t.newHeir(names(from), names(to))}
      </button>
    </>
  );
}
