/** Invites somebody to a relationship for an actor, by mail and with a reason that stays in the audit. */
import { Button } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useOnce } from '../../core/once.ts';
import { useTenant } from '../../core/session.ts';
import { useLanguage, useTexts } from '../../core/texts.ts';
import { reloadModel, useModel } from '../../model/load.ts';
import { entityOf, partsOf } from '../../model/shapes.ts';
import { Notice, ProblemAlert, SidePanel, toast } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { texts } from './texts.ts';

const nothing = { toId: '', invitor: '', email: '', until: '', reason: '' };

export function Invite({ onClose, onMade }: { onClose: () => void; onMade: (id: string) => void }) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { language } = useLanguage();
  const { tenant, api } = useTenant();
  const model = useModel();
  const names = (model.data?.relationships ?? [])
    .filter(({ spec }) => spec.invitation !== undefined && spec.invitation.enabled !== false)
    .map(({ spec }) => spec.name);
  const [chosen, setChosen] = useState<string>();
  const name = chosen ?? names[0] ?? '';
  const parts = partsOf(name);
  const [given, setGiven] = useState(nothing);
  const set = (changed: Partial<typeof nothing>) => setGiven((before) => ({ ...before, ...changed }));
  const once = useOnce();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const invitor = entityOf(given.invitor) ?? { type: parts.from, id: given.invitor.trim() };
  const send = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const body = {
        relationshipType: parts.relation,
        to: { type: parts.to, id: given.toId.trim() },
        invitor,
        invitee: { contact: { type: 'email', value: given.email.trim() }, type: parts.from },
        ...(given.until && { relationshipExpiresAt: new Date(given.until).toISOString() }),
        ...{ language, reason: given.reason },
      };
      const { data } = await once(body, (idempotencyKey) =>
        api.post<{ invitationId: string }>('/sharing/invitations', { body, idempotencyKey }),
      );
      await reloadModel(tenant.code);
      toast({ text: t.invited(given.email) });
      onMade(data.invitationId);
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  return (
    <SidePanel title={t.invite} label={t.invite} onClose={onClose}>
      {model.data !== undefined && names.length === 0 && <Notice>{t.nothingShared}</Notice>}
      <form className="model-form" onSubmit={send}>
        <p className="dim">{t.inviteAbout}</p>
        <label className="field">
          {t.relationshipType}
          <select value={name} onChange={(event) => setChosen(event.currentTarget.value)}>
            {names.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <Field label={t.idOf(parts.to)} value={given.toId} onChange={(toId) => set({ toId })} />
        <Field
          label={t.inviteFor}
          about={t.inviteForAbout(parts.from)}
          value={given.invitor}
          onChange={(one) => set({ invitor: one })}
        />
        <Field label={t.inviteeEmail} type="email" value={given.email} onChange={(email) => set({ email })} />
        <label className="field">
          {t.untilWhen}
          <input
            type="datetime-local"
            value={given.until}
            onChange={(event) => set({ until: event.currentTarget.value })}
          />
          <small>{t.untilAbout}</small>
        </label>
        <Field label={t.reason} about={t.reasonRule} value={given.reason} onChange={(reason) => set({ reason })} />
        {error !== undefined && <ProblemAlert error={error} />}
        <div className="row">
          <Button type="submit" loading={isBusy} disabled={name === ''}>
            {t.sendInvitation}
          </Button>
          <Button variant="default" onClick={onClose}>
            {ui.cancel}
          </Button>
        </div>
      </form>
    </SidePanel>
  );
}

type FieldProps = {
  label: string;
  about?: string;
  type?: 'text' | 'email';
  value: string;
  onChange: (value: string) => void;
};

const Field = ({ label, about, type = 'text', value, onChange }: FieldProps) => (
  <label className="field">
    {label}
    <input
      type={type}
      required
      maxLength={500}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
    {about !== undefined && <small>{about}</small>}
  </label>
);
