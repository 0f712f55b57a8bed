/** Makes and changes a relationship type. */
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../../core/texts.ts';
import { ShowChange } from '../../manifests/index.ts';
import {
  type Inheritance,
  type Invitation,
  isSameInheritance,
  kindNames,
  type Model,
  type Related,
} from '../../model/shapes.ts';
import { ProblemAlert, SidePanel } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { DisplayNameFields, displayNamesIn, nameRowsOf } from './display-names.tsx';
import { InheritanceFields } from './inheritance-fields.tsx';
import { InvitationFields } from './invitation-fields.tsx';
import { specOf } from './manifest.ts';
import { useSaving } from './saving.ts';
import { texts } from './texts.ts';

/** What the picture, or an address, fills in. */
export type Proposed = { from?: string | undefined; to?: string | undefined; through?: Inheritance | undefined };
type Props = { of?: Related; proposed?: Proposed; model: Model; onClose: () => void; onDone: (id: string) => void };

export function RelationshipTypeForm({ of, proposed = {}, model, onClose, onDone }: Props) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const typeNames = model.types.map(({ spec }) => spec.name);
  const actors = model.types.filter(({ kind }) => kind === 'actor-types').map(({ spec }) => spec.name);
  const known = (name: string | undefined) => typeNames.find((one) => one === name);
  const [from, setFrom] = useState(known(proposed.from) ?? actors[0] ?? typeNames[0] ?? '');
  const [relation, setRelation] = useState('');
  const [to, setTo] = useState(
    known(proposed.to) ?? typeNames.find((one) => !actors.includes(one)) ?? typeNames[0] ?? '',
  );
  const [names, setNames] = useState(() => nameRowsOf(of?.spec.displayNames));
  const [inverse, setInverse] = useState(of?.spec.inverse ?? '');
  const [max, setMax] = useState(of?.spec.maxPerTarget?.toString() ?? '');
  const [invitation, setInvitation] = useState<Invitation | undefined>(of?.spec.invitation);
  const [through, setThrough] = useState<Inheritance[]>(() => {
    const set = of?.spec.inheritedThrough ?? [];
    const { through: one } = proposed;
    return one === undefined || set.some((other) => isSameInheritance(other, one)) ? set : [...set, one];
  });
  // What the fields were filled with: the model is read again while they are changed.
  const [before] = useState(of);
  const { error, isBusy, save } = useSaving(before, onDone);
  const name = of?.spec.name ?? `${from}:${relation}:${to}`;
  const body = {
    ...displayNamesIn(names),
    ...(inverse !== '' && { inverse }),
    ...(max !== '' && { maxPerTarget: Number(max) }),
    ...(invitation && { invitation }),
    ...(through.length > 0 && { inheritedThrough: through }),
  };
  const isManaged = of !== undefined && of.spec.managedBy !== 'api';
  const title = of ? t.editOf(of.spec.name) : t.newRelationshipType;
  return (
    <SidePanel title={title} label={title} onClose={onClose}>
      <form className="model-form" onSubmit={(event) => save(event, 'relationship-types', name, body)}>
        {of === undefined && (
          <>
            <Choice label={t.from} value={from} options={typeNames} onChange={setFrom} />
            <TextInput
              label={t.relation}
              description={t.relationAbout}
              required
              autoFocus
              value={relation}
              onChange={(event) => setRelation(event.currentTarget.value)}
            />
            <Choice label={t.to} value={to} options={typeNames} onChange={setTo} />
          </>
        )}
        <DisplayNameFields rows={names} onChange={setNames} />
        <TextInput
          label={t.inverse}
          description={t.inverseAbout}
          value={inverse}
          onChange={(event) => setInverse(event.currentTarget.value)}
        />
        <TextInput
          label={t.maxPerTarget}
          description={t.maxPerTargetAbout}
          type="number"
          min={1}
          value={max}
          onChange={(event) => setMax(event.currentTarget.value)}
        />
        <InheritanceFields
          name={of?.spec.name ?? `${from}:${relation || '…'}:${to}`}
          model={model}
          through={through}
          onChange={setThrough}
        />
        <InvitationFields invitation={invitation} onChange={setInvitation} />
        {error !== undefined && <ProblemAlert error={error} />}
        <div className="row">
          {isManaged ? (
            <ShowChange of={{ kind: kindNames['relationship-types'], name }} spec={(stored) => specOf(body, stored)} />
          ) : (
            <Button type="submit" loading={isBusy}>
              {t.save}
            </Button>
          )}
          <Button variant="default" onClick={onClose}>
            {ui.cancel}
          </Button>
        </div>
      </form>
    </SidePanel>
  );
}

type ChoiceProps = { label: string; value: string; options: readonly string[]; onChange: (to: string) => void };

const Choice = ({ label, value, options, onChange }: ChoiceProps) => (
  <label className="field">
    {label}
    <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map((one) => (
        <option key={one}>{one}</option>
      ))}
    </select>
  </label>
);
