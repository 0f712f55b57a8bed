/** What users agreed to: search, receipts, and acting for a user with a reason. */
import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useFilters } from '../../core/address.ts';
import { useOnce } from '../../core/once.ts';
import { queryClient, readOnce, usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useRecord } from '../../core/session-end.ts';
import { useTexts } from '../../core/texts.ts';
import {
  ChoiceFilter,
  CopyId,
  curl,
  DataTable,
  Empty,
  Filters,
  ProblemAlert,
  RelativeTime,
  ShowAs,
  SidePanel,
  State,
  TextFilter,
  toast,
  WithPanel,
} from '../../ui/index.ts';
import { type Consent, GivenPanel } from './given-panel.tsx';
import { ConsentsPage } from './tabs.tsx';
import { texts } from './texts.ts';

const tones = { given: 'ok', valid: 'ok', grace: 'warn', expired: 'bad', required: 'accent' } as const;
const names = ['userId', 'name', 'version', 'status'] as const;

export default function Given() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [filters, set] = useFilters(names);
  const [isNew, setNew] = useState(false);
  const [opened, setOpened] = useRecord<Consent>();
  const isSupport = tenant.role === 'support';
  const mayAct = mayDo(tenant.role, 'admin');
  const pages = usePages(
    ['consents', tenant.code, 'given', filters],
    async (cursor, signal) => {
      const { data } = await api.get<{ consents: Consent[]; cursor?: string }>('/consents', {
        query: { ...filters, limit: 100, cursor },
        signal,
      });
      return { rows: data.consents, after: data.cursor };
    },
    readOnce, // each page is written to the ledger
  );
  const show = (consent: Consent | undefined) => {
    setNew(false);
    setOpened(consent);
  };
  const close = () => show(undefined);
  const panel = isNew ? <Register onClose={close} /> : opened && <GivenPanel consent={opened} onClose={close} />;
  return (
    <ConsentsPage
      title={t.given}
      about={isSupport ? t.givenMasked : t.givenAbout}
      actions={
        <>
          <ShowAs curl={curl(api.path('/consents', filters))} />
          {mayAct && <Button onClick={() => setNew(true)}>{t.register}</Button>}
        </>
      }
    >
      <Filters onClear={() => set({ userId: undefined, name: undefined, version: undefined, status: undefined })}>
        {!isSupport && (
          <TextFilter label={t.user} value={filters.userId ?? ''} onChange={(userId) => set({ userId })} />
        )}
        <TextFilter label={t.definition} value={filters.name ?? ''} onChange={(name) => set({ name })} />
        <TextFilter label={t.version} value={filters.version ?? ''} onChange={(version) => set({ version })} />
        <ChoiceFilter
          label={t.state}
          {...(filters.status === undefined ? {} : { value: filters.status })}
          options={Object.entries(t.statuses).map(([value, label]) => ({ value, label }))}
          onChange={(status) => set({ status })}
        />
      </Filters>
      <WithPanel panel={panel}>
        <DataTable
          label={t.given}
          pages={pages}
          rowKey={({ id }) => id}
          onOpen={show}
          {...(opened === undefined ? {} : { selected: opened.id })}
          empty={<Empty sentence={t.noGiven} />}
          columns={[
            { id: 'user', header: t.user, cell: ({ userId }) => <CopyId id={userId} /> },
            { id: 'name', header: t.definition, cell: ({ name }) => name },
            { id: 'version', header: t.version, cell: ({ version }) => version },
            { id: 'document', header: t.document, cell: ({ document }) => `${document.version}, ${document.language}` },
            { id: 'at', header: t.agreedAt, cell: ({ givenAt }) => <RelativeTime at={givenAt} /> },
            {
              id: 'status',
              header: t.state,
              cell: ({ status }) => <State tone={tones[status]}>{t.statuses[status]}</State>,
            },
          ]}
        />
      </WithPanel>
    </ConsentsPage>
  );
}

const empty = { userId: '', name: '', version: '', document: '', language: '', reason: '' };

function Register({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [fields, setFields] = useState(empty);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const once = useOnce();
  const register = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const { document, language, ...named } = fields;
    try {
      const body = { ...named, document: { version: document, language } };
      const { status } = await once(body, (idempotencyKey) => api.post('/consents', { body, idempotencyKey }));
      await queryClient.invalidateQueries({ queryKey: ['consents', tenant.code] });
      toast({ text: status === 201 ? t.registered(fields.userId) : t.alreadyGiven(fields.userId) });
      onClose();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  const labels = {
    userId: t.user,
    name: t.definition,
    version: t.version,
    document: t.documentVersion,
    language: t.language,
  };
  return (
    <SidePanel label={t.register} title={t.register} onClose={onClose}>
      <form className="form" onSubmit={register}>
        <p className="dim">{t.registerRule}</p>
        {(Object.keys(labels) as (keyof typeof labels)[]).map((one) => (
          <TextInput
            key={one}
            label={labels[one]}
            required
            value={fields[one]}
            onChange={({ currentTarget: { value } }) => setFields({ ...fields, [one]: value })}
          />
        ))}
        <TextInput
          label={t.reason}
          description={t.reasonRule}
          required
          maxLength={500}
          value={fields.reason}
          onChange={({ currentTarget: { value } }) => setFields({ ...fields, reason: value })}
        />
        {error !== undefined && <ProblemAlert error={error} />}
        <Button type="submit" loading={isBusy} disabled={fields.reason.trim() === ''}>
          {t.register}
        </Button>
      </form>
    </SidePanel>
  );
}
