/** Makes a relationship of one of the tenant's types. */
import { Button } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { reloadModel, useModel } from '../../model/load.ts';
import { type Entity, partsOf, said } from '../../model/shapes.ts';
import { ProblemAlert, SidePanel, toast } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { texts } from './texts.ts';

/** `name` and `toId`: of one that a page offers to make. */
type Props = { from: Entity | undefined; name: string | undefined; toId: string | undefined; onClose: () => void };

export function AddRelationship({ from, name: offered, toId: offeredTo = '', onClose }: Props) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const names = (useModel().data?.relationships ?? []).map(({ spec }) => spec.name);
  const first = names.find((one) => partsOf(one).from === from?.type) ?? names[0];
  const [name, setName] = useState(offered);
  const parts = partsOf(name ?? first ?? '');
  const [fromId, setFromId] = useState(from?.id ?? '');
  const [toId, setToId] = useState(offeredTo);
  const [until, setUntil] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const add = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const one = {
      from: { type: parts.from, id: fromId.trim() },
      relationshipType: parts.relation,
      to: { type: parts.to, id: toId.trim() },
    };
    const { from: who, ...body } = one;
    try {
      await api.post(`/actors/${segment(who.type)}/${segment(who.id)}/relationships`, {
        body: { ...body, ...(until && { expiresAt: new Date(until).toISOString() }) },
      });
      await reloadModel(tenant.code);
      toast({ text: t.added(said(one)) });
      onClose();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  return (
    <SidePanel title={t.addRelationship} label={t.addRelationship} onClose={onClose}>
      <form className="model-form" onSubmit={add}>
        <label className="field">
          {t.relationshipType}
          <select value={name ?? first ?? ''} onChange={(event) => setName(event.currentTarget.value)}>
            {names.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label className="field">
          {t.idOf(parts.from)}
          <input required value={fromId} onChange={(event) => setFromId(event.currentTarget.value)} />
        </label>
        <label className="field">
          {t.idOf(parts.to)}
          <input required value={toId} onChange={(event) => setToId(event.currentTarget.value)} />
        </label>
        <label className="field">
          {t.untilWhen}
          <input type="datetime-local" value={until} onChange={(event) => setUntil(event.currentTarget.value)} />
          <small>{t.untilAbout}</small>
        </label>
        {error !== undefined && <ProblemAlert error={error} />}
        <div className="row">
          <Button type="submit" loading={isBusy} disabled={first === undefined}>
            {t.addRelationship}
          </Button>
          <Button variant="default" onClick={onClose}>
            {ui.cancel}
          </Button>
        </div>
      </form>
    </SidePanel>
  );
}
