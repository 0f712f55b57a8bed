/** The advanced settings: the 24-hour token for the Config API, shown once, listed, revoked. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useOnce } from '../../core/once.ts';
import { ApiProblem } from '../../core/problem.ts';
import { queryClient, usePages } from '../../core/query.ts';
import { logInPath, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Confirm, curl, DataTable, Notice, ProblemAlert, RelativeTime, ShowAs, State, toast } from '../../ui/index.ts';
import { CodeBlock } from '../../ui/show-as.tsx';
import { SettingsPage } from './tabs.tsx';
import { texts } from './texts.ts';

type Token = { jti: string; member: { email: string }; createdAt: string; expiresAt: string; revokedAt?: string };

export default function AccessToken() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [revoking, setRevoking] = useState<string>();
  const reload = () => queryClient.invalidateQueries({ queryKey: ['tokens', tenant.code] });
  const pages = usePages(['tokens', tenant.code], async (cursor, signal) => {
    const { data } = await api.get<{ portalTokens: Token[]; cursor?: string }>('/portal-tokens', {
      query: { limit: 50, cursor },
      signal,
    });
    return { rows: data.portalTokens, after: data.cursor };
  });
  return (
    <SettingsPage place="token" about={t.tokenAbout} actions={<ShowAs curl={curl(api.path('/portal-tokens'))} />}>
      <NewToken onMade={reload} />
      <h2>{t.tokens}</h2>
      <DataTable
        label={t.tokens}
        pages={pages}
        rowKey={({ jti }) => jti}
        empty={<p className="dim">{t.noTokens}</p>}
        columns={[
          { id: 'of', header: t.tokenOf, cell: ({ member }) => member.email },
          { id: 'since', header: t.since, cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
          { id: 'expires', header: t.expires, cell: ({ expiresAt }) => <RelativeTime at={expiresAt} /> },
          {
            id: 'status',
            header: t.status,
            cell: ({ revokedAt }) =>
              revokedAt ? <State tone="none">{t.revoked}</State> : <State tone="ok">{t.valid}</State>,
          },
          {
            id: 'revoke',
            header: '',
            cell: ({ jti, revokedAt }) =>
              revokedAt === undefined && (
                <button type="button" className="plain chip" onClick={() => setRevoking(jti)}>
                  {t.revoke}
                </button>
              ),
          },
        ]}
      />
      {revoking !== undefined && (
        <Confirm
          title={t.revokeTitle}
          consequences={t.revokeWhat}
          action={t.revoke}
          onClose={() => setRevoking(undefined)}
          onConfirm={async () => {
            await api.delete(`/portal-tokens/${revoking}`);
            await reload();
            toast({ text: t.isRevoked });
          }}
        />
      )}
    </SettingsPage>
  );
}

function NewToken({ onMade }: { onMade: () => Promise<unknown> }) {
  const t = useTexts(texts);
  const { api } = useTenant();
  const [made, setMade] = useState<string>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const once = useOnce();
  const create = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const { data } = await once({}, (idempotencyKey) =>
        api.post<{ token: string }>('/portal-tokens', { idempotencyKey }),
      );
      setMade(data.token);
      await onMade();
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  const isTooOld = error instanceof ApiProblem && error.code === 'recent_log_in_needed';
  const command = made === undefined ? '' : curl(api.path('/policies')).replace('$ACCORD_TOKEN', made);
  return (
    <section className="card stack" aria-label={t.newToken}>
      <p>{t.tokenFor}</p>
      {made !== undefined && (
        <Notice tone="warn">
          <p role="status">{t.tokenOnce}</p>
          <CodeBlock code={command} />
          <CodeBlock code={made} />
        </Notice>
      )}
      {isTooOld && (
        <Notice>
          <p>{t.recentNeeded}</p>
          <a href={`${logInPath()}&again=1`}>{t.logInAgain}</a>
        </Notice>
      )}
      {error !== undefined && !isTooOld && <ProblemAlert error={error} />}
      <div>
        <Button loading={isBusy} onClick={create}>
          {t.newToken}
        </Button>
      </div>
    </section>
  );
}
