/** One consent: its facts, its receipt, taking it back for the user. */
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { segment } from '../../core/api.ts';
import { queryClient } from '../../core/query.ts';
import { receiptText } from '../../core/receipt.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Confirm, CopyId, Facts, Link, ProblemAlert, RelativeTime, SidePanel, toast } from '../../ui/index.ts';
import { CodeBlock } from '../../ui/show-as.tsx';
import { texts } from './texts.ts';

export type Consent = {
  id: string;
  userId: string;
  name: string;
  version: string;
  document: { version: string; language: string };
  givenAt: string;
  contentDigest?: string;
  proof?: unknown;
  status: 'given' | 'valid' | 'grace' | 'expired' | 'required';
};

export function GivenPanel({ consent, onClose }: { consent: Consent; onClose: () => void }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [receipt, setReceipt] = useState<string>();
  const [error, setError] = useState<unknown>();
  const { name, version, document } = consent;
  const readReceipt = () => {
    setError(undefined);
    api
      .get<{ receipt: string }>(`/consents/${segment(consent.id)}/receipt`)
      .then(({ data }) => setReceipt(data.receipt), setError);
  };
  return (
    <SidePanel label={t.consent} title={`${name} ${version}`} onClose={onClose}>
      <div className="stack">
        <Facts
          facts={[
            [t.user, <CopyId key="user" id={consent.userId} max={60} />],
            [t.document, `${document.version}, ${document.language}`],
            [
              t.agreedAt,
              <span key="at">
                <RelativeTime at={consent.givenAt} /> <span className="dim">{consent.givenAt}</span>
              </span>,
            ],
            [
              t.digest,
              consent.contentDigest && (
                <span key="digest" className="mono">
                  {consent.contentDigest}
                </span>
              ),
            ],
          ]}
        />
        {consent.proof !== undefined && <CodeBlock code={JSON.stringify(consent.proof, undefined, 2)} />}
        {error !== undefined && <ProblemAlert error={error} />}
        {tenant.role !== 'support' && (
          <div className="row">
            <Button variant="default" onClick={readReceipt}>
              {t.receipt}
            </Button>
            <Link to={`/consents/ledger?userId=${segment(consent.userId)}&name=${segment(name)}`}>{t.inLedger}</Link>
          </div>
        )}
        {receipt !== undefined && (
          <section className="stack" aria-label={t.receipt}>
            <p className="dim">{t.receiptAbout}</p>
            <CodeBlock code={receipt} />
            <details>
              <summary>{t.receiptSays}</summary>
              <CodeBlock code={receiptText(receipt)} />
            </details>
          </section>
        )}
        {mayDo(tenant.role, 'admin') && <Revoke consent={consent} onDone={onClose} />}
      </div>
    </SidePanel>
  );
}

function Revoke({ consent: { id, userId, name, version }, onDone }: { consent: Consent; onDone: () => void }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [reason, setReason] = useState('');
  const [isAsked, setAsked] = useState(false);
  const revoke = async () => {
    await api.post(`/consents/${segment(id)}/revoke`, { body: { reason } });
    await queryClient.invalidateQueries({ queryKey: ['consents', tenant.code] });
    toast({ text: t.revoked(userId) });
    onDone();
  };
  return (
    <section className="stack" aria-label={t.revoke}>
      <h3>{t.revoke}</h3>
      <TextInput
        label={t.reason}
        description={t.reasonRule}
        required
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      <div>
        <Button variant="default" disabled={reason.trim() === ''} onClick={() => setAsked(true)}>
          {t.revoke}
        </Button>
      </div>
      {isAsked && (
        <Confirm
          title={t.revokeTitle(userId, `${name} ${version}`)}
          consequences={t.revokeWhat}
          action={t.revoke}
          onConfirm={revoke}
          onClose={() => setAsked(false)}
        />
      )}
    </section>
  );
}
