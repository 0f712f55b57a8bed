/** The receipt of a consent: signed by the tenant, kept as a file, and what it says. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { segment } from '../core/api.ts';
import { receiptText } from '../core/receipt.ts';
import { saveFile } from '../core/save-file.ts';
import { ProblemAlert } from '../ui/problem-alert.tsx';
import { brand } from './brand.ts';
import { own } from './session.ts';
import { useSharingTexts } from './texts.ts';

type Read = { receipt?: string; error?: unknown; isBusy?: boolean };

/** @param id of the consent */
export function useReceipt(id: string) {
  const [read, setRead] = useState<Read>({});
  const ask = async () => {
    setRead({ isBusy: true });
    try {
      setRead(await own.get<{ receipt: string }>(`/consents/${segment(id)}/receipt`));
    } catch (error) {
      setRead({ error });
    }
  };
  return { ...read, ask };
}

type Props = { receipt?: string; error?: unknown; of: string; fileName: string };

export function Receipt({ receipt, error, of, fileName }: Props) {
  const { consents: t } = useSharingTexts();
  if (error !== undefined) return <ProblemAlert error={error} />;
  if (receipt === undefined) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a section of this page has looks of its own
    <div className="stack" role="region" aria-label={`${t.receipt}: ${of}`}>
      <p className="dim">{t.receiptAbout(brand.name)}</p>
      <div className="row">
        <Button variant="default" onClick={() => saveFile(fileName, receipt, 'application/jose')}>
          {t.saveReceipt}
        </Button>
      </div>
      <details>
        <summary>{t.receiptSays}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reached by keyboard */}
        <pre className="document-text" tabIndex={0}>
          {receiptText(receipt)}
        </pre>
      </details>
    </div>
  );
}
