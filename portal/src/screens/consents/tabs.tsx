/** The pages of the screen: definitions, what users gave, the ledger. */
import { Link as RouterLink } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { tenantPath } from '../../core/address.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { PageHeader } from '../../ui/index.ts';
import { texts } from './texts.ts';
import './consents.css';

type Props = { title: string; about: string; actions?: ReactNode; children: ReactNode };

export function ConsentsPage({ title, about, actions, children }: Props) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const places = [
    ['', t.definitions],
    ...(mayDo(tenant.role, 'records')
      ? [
          ['/given', t.given],
          ['/ledger', t.ledger],
        ]
      : []),
  ];
  return (
    <>
      <PageHeader title={title} about={about} actions={actions} />
      <nav className="tabs" aria-label={t.title}>
        {places.map(([path, name]) => (
          <RouterLink
            key={path}
            to={tenantPath(tenant.code, `/consents${path}`) as never}
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ className: 'active' }}
          >
            {name}
          </RouterLink>
        ))}
      </nav>
      <div className="stack">{children}</div>
    </>
  );
}
