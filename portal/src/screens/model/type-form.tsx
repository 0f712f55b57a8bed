/** Makes and changes a type of actors or resources. */
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../../core/texts.ts';
import { type Typed, type TypeKind, typeKinds, type ValueType, valueTypes } from '../../model/shapes.ts';
import { Icon, ProblemAlert, SidePanel } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { DisplayNameFields, displayNamesIn, nameRowsOf } from './display-names.tsx';
import { useSaving } from './saving.ts';
import { texts } from './texts.ts';

type Row = { key: number; name: string; type: ValueType; required: boolean };
type Props = { of?: Typed; onClose: () => void; onDone: (id: string) => void };
let keys = 0;

export function TypeForm({ of, onClose, onDone }: Props) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const [kind, setKind] = useState<TypeKind>(of?.kind ?? 'resource-types');
  const [name, setName] = useState(of?.spec.name ?? '');
  const [rows, setRows] = useState<Row[]>(() =>
    Object.entries(of?.spec.attributes ?? {}).map(([one, { type, required = false }]) => ({
      ...{ key: keys++, name: one, type, required },
    })),
  );
  const [names, setNames] = useState(() => nameRowsOf(of?.spec.displayNames));
  // What the fields were filled with: the model is read again while they are changed.
  const [before] = useState(of);
  const { error, isBusy, save } = useSaving(before, onDone);
  const change = (key: number, to: Partial<Row>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...to } : row)));
  const attributes = Object.fromEntries(
    rows
      .filter((row) => row.name !== '')
      .map(({ name: one, type, required }) => [one, { type, ...(required && { required }) }]),
  );
  const title = of ? t.editOf(of.spec.name) : t.newType;
  return (
    <SidePanel title={title} label={title} onClose={onClose}>
      <form
        className="model-form"
        onSubmit={(event) => save(event, kind, name, { ...displayNamesIn(names), attributes })}
      >
        {of === undefined && (
          <>
            <label className="field">
              {t.kind}
              <select value={kind} onChange={(event) => setKind(event.currentTarget.value as TypeKind)}>
                {typeKinds.map((one) => (
                  <option key={one} value={one}>
                    {t.kindNames[one]}
                  </option>
                ))}
              </select>
              <small>{t.kindAbout[kind]}</small>
            </label>
            <TextInput
              label={t.name}
              description={t.nameAbout}
              required
              autoFocus
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
            />
          </>
        )}
        <DisplayNameFields rows={names} onChange={setNames} />
        <fieldset>
          <legend>{t.attributes}</legend>
          {rows.map((row) => (
            <div key={row.key} className="model-row">
              <label className="field">
                {t.name}
                <input
                  required
                  value={row.name}
                  onChange={(event) => change(row.key, { name: event.currentTarget.value })}
                />
              </label>
              <label className="field">
                {t.valueType}
                <select
                  value={row.type}
                  onChange={(event) => change(row.key, { type: event.currentTarget.value as ValueType })}
                >
                  {valueTypes.map((one) => (
                    <option key={one} value={one}>
                      {t.valueTypes[one]}
                    </option>
                  ))}
                </select>
              </label>
              <label className="check">
                <input
                  type="checkbox"
                  checked={row.required}
                  onChange={(event) => change(row.key, { required: event.currentTarget.checked })}
                />
                {t.required}
              </label>
              <button
                type="button"
                className="plain chip"
                aria-label={t.removeAttribute(row.name)}
                onClick={() => setRows(rows.filter(({ key }) => key !== row.key))}
              >
                <Icon name="trash" />
              </button>
            </div>
          ))}
          <div>
            <button
              type="button"
              className="plain chip"
              onClick={() => setRows([...rows, { key: keys++, name: '', type: 'string', required: false }])}
            >
              <Icon name="plus" /> {t.addAttribute}
            </button>
          </div>
        </fieldset>
        {error !== undefined && <ProblemAlert error={error} />}
        <div className="row">
          <Button type="submit" loading={isBusy}>
            {t.save}
          </Button>
          <Button variant="default" onClick={onClose}>
            {ui.cancel}
          </Button>
        </div>
      </form>
    </SidePanel>
  );
}
