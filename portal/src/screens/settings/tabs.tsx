/** The pages of the settings: their head, and the way from one to the other. */
import { Link as RouterLink } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { tenantPath } from '../../core/address.ts';
import { type Role, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { PageHeader } from '../../ui/index.ts';
import { texts } from './texts.ts';

export type Place = 'members' | 'clients' | 'issuers' | 'token' | 'audit';

/** What a role may read; the server refuses the rest. */
const places: Record<Role, readonly Place[]> = {
  'security-admin': ['members', 'clients', 'issuers', 'token', 'audit'],
  'config-editor': ['clients', 'issuers', 'token'],
  'config-viewer': ['clients', 'issuers', 'token'],
  support: ['clients', 'issuers', 'token', 'audit'],
};

type Props = { place: Place; title?: string; about: string; actions?: ReactNode; children: ReactNode };

/** @param title of an object of the place; absent: the place itself */
export function SettingsPage({ place, title, about, actions, children }: Props) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  return (
    <>
      <PageHeader title={title ?? t[place]} about={about} actions={actions} />
      <nav className="tabs" aria-label={t.title}>
        {places[tenant.role].map((one) => (
          <RouterLink
            key={one}
            to={tenantPath(tenant.code, `/settings/${one}`) as never}
            activeProps={{ className: 'active' }}
          >
            {t[one]}
          </RouterLink>
        ))}
      </nav>
      <div className="stack">{children}</div>
    </>
  );
}
