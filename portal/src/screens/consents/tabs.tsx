/** The pages of the screen: definitions, what users gave, the ledger. */
import type { ReactNode } from 'react';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { TabbedPage } from '../../ui/index.ts';
import { texts } from './texts.ts';
import './consents.css';

type Props = { title: string; about: string; actions?: ReactNode; children: ReactNode };

export function ConsentsPage(props: Props) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const records = [
    { to: '/consents/given', label: t.given },
    { to: '/consents/ledger', label: t.ledger },
  ];
  const tabs = [
    { to: '/consents', label: t.definitions, isFirst: true },
    ...(mayDo(tenant.role, 'records') ? records : []),
  ];
  return <TabbedPage label={t.title} tabs={tabs} {...props} />;
}
