/** What a person has agreed to, and taking it back for the person. */
import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { segment } from '../../core/api.ts';
import { queryClient, readOnce, usePages } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Dialog, Link, ProblemAlert, RelativeTime, State, toast } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import type { Consent, Entity } from './shapes.ts';
import { texts } from './texts.ts';

/** Not below ['people', …]: reading them is written to the ledger, and they change by taking one back alone. */
const keyOf = (tenant: string, of: Entity) => ['consents-of-person', tenant, of];

export function Consents({ of }: { of: Entity }) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const [revoking, setRevoking] = useState<Consent>();
  // Reading them is written to the ledger, so opening the page alone does not.
  const [isShown, setShown] = useState(false);
  const pages = usePages(
    keyOf(tenant.code, of),
    async (cursor, signal) => {
      const { data } = await api.get<{ consents: Consent[]; cursor?: string }>('/consents', {
        query: { userId: of.id, cursor, limit: 20 },
        signal,
      });
      return { rows: data.consents, after: data.cursor };
    },
    { enabled: isShown, ...readOnce },
  );
  return (
    <section className="card stack" aria-label={t.consents}>
      <h2>{t.consents}</h2>
      {pages.error && <ProblemAlert error={pages.error} onRetry={pages.retry} />}
      {!isShown && (
        <>
          <p className="dim">{t.consentsRead}</p>
          <div>
            <Button variant="default" onClick={() => setShown(true)}>
              {t.showConsents}
            </Button>
          </div>
        </>
      )}
      {isShown && !pages.isLoading && !pages.error && pages.rows.length === 0 && <p className="dim">{t.noConsents}</p>}
      <ul className="person-list">
        {pages.rows.map((one) => (
          <li key={one.id}>
            <span>
              <Link to={`/consents/${segment(one.name)}`}>{one.name}</Link> {one.version} ({one.document.language}) ·{' '}
              <RelativeTime at={one.givenAt} /> <State tone="none">{one.status}</State>
            </span>
            {mayDo(tenant.role, 'admin') && (
              <button
                type="button"
                className="plain chip"
                aria-label={`${t.revokeConsent}: ${one.name} ${one.version}`}
                onClick={() => setRevoking(one)}
              >
                {t.revokeConsent}
              </button>
            )}
          </li>
        ))}
      </ul>
      {pages.hasMore && (
        <Button variant="default" loading={pages.isLoadingMore} onClick={pages.loadMore}>
          {ui.loadMore}
        </Button>
      )}
      {revoking && <Revoke of={of} consent={revoking} onClose={() => setRevoking(undefined)} />}
    </section>
  );
}

function Revoke({ of, consent, onClose }: { of: Entity; consent: Consent; onClose: () => void }) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const [reason, setReason] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const said = `${consent.name} ${consent.version}`;
  const revoke = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await api.post(`/consents/${segment(consent.id)}/revoke`, { body: { reason: reason.trim() } });
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: keyOf(tenant.code, of) }),
        queryClient.invalidateQueries({ queryKey: ['people', tenant.code] }),
      ]);
      toast({ text: t.consentRevoked(said) });
      onClose();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  return (
    <Dialog label={t.revokeConsentTitle(said, of.id)} onClose={() => isBusy || onClose()}>
      <form onSubmit={revoke}>
        <div className="stack">
          <h2>{t.revokeConsentTitle(said, of.id)}</h2>
          <ul>
            {t.revokeConsentWhat.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
          <TextInput
            label={t.whyRevoke}
            description={t.whyRevokeAbout}
            required
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          {error !== undefined && <ProblemAlert error={error} />}
        </div>
        <div className="actions">
          <Button variant="default" disabled={isBusy} onClick={onClose}>
            {ui.cancel}
          </Button>
          <Button type="submit" color="red.9" loading={isBusy} disabled={reason.trim() === ''}>
            {t.revokeConsent}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
