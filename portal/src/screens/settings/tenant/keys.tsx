/** The tenant's signing keys, and rotating those of tokens. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { queryClient, usePages } from '../../../core/query.ts';
import { mayDo, useTenant } from '../../../core/session.ts';
import { useTexts } from '../../../core/texts.ts';
import { Confirm, CopyId, curl, DataTable, Notice, RelativeTime, ShowAs, State, toast } from '../../../ui/index.ts';
import { SettingsPage } from '../tabs.tsx';
import type { TenantTexts } from './texts.en.ts';
import { texts } from './texts.ts';

type Key = {
  kid: string;
  purpose: keyof TenantTexts['purposes'];
  algorithm: string;
  state: keyof TenantTexts['states'];
  createdAt: string;
  activatesAt: string;
  verifiesUntil?: string;
  rotatesAt?: string;
};
const tones = { published: 'accent', active: 'ok', retired: 'none' } as const;

export default function Keys() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [isRotating, setRotating] = useState(false);
  const pages = usePages(['keys', tenant.code], async (_after, signal) => {
    const { data } = await api.get<{ keys: Key[] }>('/keys', { signal });
    return { rows: data.keys, after: undefined };
  });
  const upcoming = pages.rows.find(({ state, purpose }) => state === 'published' && purpose === 'access');
  return (
    <SettingsPage
      place="keys"
      about={t.keysAbout}
      actions={
        <>
          <ShowAs curl={curl(api.path('/keys'))} />
          {mayDo(tenant.role, 'admin') && <Button onClick={() => setRotating(true)}>{t.rotate}</Button>}
        </>
      }
    >
      {upcoming && <Notice>{t.isRotating(upcoming.kid)}</Notice>}
      <DataTable
        label={t.keysAbout}
        pages={pages}
        rowKey={({ kid }) => kid}
        empty={<p>{t.noKeys}</p>}
        columns={[
          { id: 'purpose', header: t.purpose, cell: ({ purpose }) => t.purposes[purpose] },
          { id: 'kid', header: t.kid, cell: ({ kid }) => <CopyId id={kid} /> },
          { id: 'algorithm', header: t.algorithm, cell: ({ algorithm }) => algorithm },
          {
            id: 'state',
            header: t.state,
            cell: ({ state }) => <State tone={tones[state]}>{t.states[state]}</State>,
          },
          { id: 'made', header: t.made, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
          { id: 'signs', header: t.signsFrom, cell: ({ activatesAt }) => <RelativeTime at={activatesAt} /> },
          {
            id: 'verifies',
            header: t.verifiesUntil,
            cell: ({ verifiesUntil }) => verifiesUntil && <RelativeTime at={verifiesUntil} />,
          },
          { id: 'next', header: t.rotatesAt, cell: ({ rotatesAt }) => rotatesAt && <RelativeTime at={rotatesAt} /> },
        ]}
      />
      {isRotating && (
        <Confirm
          title={t.rotateTitle}
          consequences={t.rotateWhat}
          action={t.rotate}
          onClose={() => setRotating(false)}
          onConfirm={async () => {
            await api.post('/keys/rotate', { body: {} });
            await queryClient.invalidateQueries({ queryKey: ['keys', tenant.code] });
            toast({ text: t.rotated });
          }}
        />
      )}
    </SettingsPage>
  );
}
