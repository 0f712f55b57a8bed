/** Changing a subscription. What is typed is kept until it is saved, but for a secret. */
import { Button, Checkbox, NativeSelect, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { asRead } from '../../core/api.ts';
import { useDraft } from '../../core/drafts.ts';
import { isConflict } from '../../core/problem.ts';
import { queryClient } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { DraftConflict, Facts, ProblemAlert, SidePanel, toast } from '../../ui/index.ts';
import { eventTypesText, formats } from './states.ts';
import { authFields, authTypes, bodyOf, type Form, formOf, type Subscription, secretOf } from './subscription-form.ts';
import { texts } from './texts.ts';

type Props = { subscription: Subscription; path: string; etag: string | undefined; onClose: () => void };

export function EditSubscription({ subscription, path, etag, onClose }: Props) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const { draft, isOld, keep, rebase, drop, saved } = useDraft<Form>(
    `${tenant.code}/subscription/${subscription.id}`,
    etag,
  );
  const form = draft ?? formOf(subscription);
  const set = (part: Partial<Form>) => keep({ ...form, ...part });
  const [secret, setSecret] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const reload = () => queryClient.invalidateQueries({ queryKey: ['subscriptions', tenant.code] });
    try {
      const { etag: stored } = await api.put(path, { body: bodyOf(subscription, form, secret), ...asRead(etag) });
      const typed = saved(draft, stored);
      await reload();
      toast({ text: t.subscriptionSaved });
      if (typed === undefined) onClose();
    } catch (caught) {
      setError(caught);
      if (isConflict(caught)) await reload();
    }
    setBusy(false);
  };
  const decide = (how: () => void) => () => {
    how();
    setError(undefined);
  };
  const isMeanwhile = isOld && !isBusy;
  return (
    <SidePanel label={t.editSubscription} title={t.editSubscription} onClose={onClose} onEscape="closes">
      <form className="form" onSubmit={save}>
        <Sending form={form} set={set} />
        <Auth form={form} set={set} secret={secret} onSecret={setSecret} />
        {isMeanwhile && (
          <DraftConflict onKeep={decide(() => rebase(form))} onDrop={decide(drop)}>
            <Facts
              facts={[
                [t.endpoint, <code key="endpoint">{subscription.endpoint}</code>],
                [t.typesOf, eventTypesText(subscription.eventTypes, t)],
                [t.format, subscription.format],
                [t.maxPerSecond, String(subscription.maxPerSecond)],
                [t.numberOfRetries, String(subscription.numberOfRetries)],
                [t.authType, t.authTypes[subscription.auth.type]],
              ]}
            />
          </DraftConflict>
        )}
        {error !== undefined && <ProblemAlert error={error} />}
        <Button type="submit" loading={isBusy} disabled={isMeanwhile}>
          {t.saveSubscription}
        </Button>
      </form>
    </SidePanel>
  );
}

type Fields = { form: Form; set: (part: Partial<Form>) => void };

/** What is sent, and how. */
function Sending({ form, set }: Fields) {
  const t = useTexts(texts);
  return (
    <>
      <TextInput
        label={t.endpoint}
        description={t.endpointRule}
        type="url"
        required
        value={form.endpoint}
        onChange={(event) => set({ endpoint: event.currentTarget.value })}
      />
      <TextInput
        label={t.eventTypes}
        required
        value={form.eventTypes}
        onChange={(event) => set({ eventTypes: event.currentTarget.value })}
      />
      <TextInput
        label={t.actorTypes}
        value={form.actorTypes}
        onChange={(event) => set({ actorTypes: event.currentTarget.value })}
      />
      <TextInput
        label={t.resourceTypes}
        value={form.resourceTypes}
        onChange={(event) => set({ resourceTypes: event.currentTarget.value })}
      />
      <NativeSelect
        label={t.format}
        data={formats}
        value={form.format}
        onChange={(event) => set({ format: event.currentTarget.value })}
      />
      <TextInput
        label={t.maxPerSecond}
        type="number"
        required
        min={1}
        value={form.maxPerSecond}
        onChange={(event) => set({ maxPerSecond: event.currentTarget.value })}
      />
      <TextInput
        label={t.numberOfRetries}
        type="number"
        required
        min={0}
        value={form.numberOfRetries}
        onChange={(event) => set({ numberOfRetries: event.currentTarget.value })}
      />
      <Checkbox
        label={t.handshake}
        checked={form.handshake}
        onChange={(event) => set({ handshake: event.currentTarget.checked })}
      />
    </>
  );
}

type AuthProps = Fields & { secret: string; onSecret: (secret: string) => void };

function Auth({ form, set, secret, onSecret }: AuthProps) {
  const t = useTexts(texts);
  const { type } = form.auth;
  return (
    <>
      <NativeSelect
        label={t.authType}
        data={authTypes.map((value) => ({ value, label: t.authTypes[value] }))}
        value={type}
        onChange={(event) => {
          onSecret('');
          set({ auth: { type: event.currentTarget.value as typeof type } });
        }}
      />
      {authFields[type].map(({ name, isOptional }) => (
        <TextInput
          key={name}
          label={t.authFields[name]}
          required={!isOptional}
          value={form.auth[name] ?? ''}
          onChange={(event) => set({ auth: { ...form.auth, [name]: event.currentTarget.value } })}
        />
      ))}
      {secretOf[type] && (
        <TextInput
          label={t.authSecrets[secretOf[type]]}
          description={t.authSecretWhy}
          type="password"
          autoComplete="off"
          value={secret}
          onChange={(event) => onSecret(event.currentTarget.value)}
        />
      )}
    </>
  );
}
