/** The logs of what happened: their head, and the way from one to the other. */
import { Link as RouterLink } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { tenantPath } from '../../core/address.ts';
import { type Role, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { PageHeader } from '../../ui/index.ts';
import { texts } from './texts.ts';

export type Place = 'decisions' | 'events' | 'subscriptions' | 'mail' | 'templates' | 'query';

/** What a role may read; the server refuses the rest. */
const places: Record<Role, readonly Place[]> = {
  'security-admin': ['decisions', 'events', 'subscriptions', 'mail', 'templates', 'query'],
  'config-editor': ['decisions', 'events', 'subscriptions', 'mail', 'templates', 'query'],
  'config-viewer': ['subscriptions', 'templates'],
  support: ['decisions', 'subscriptions', 'mail', 'templates'],
};
const pathOf = (place: Place) => (place === 'decisions' ? '/activity' : `/activity/${place}`);

export const maySee = (role: Role, place: Place) => places[role].includes(place);

type Props = { place: Place; title?: string; about: string; actions?: ReactNode; children: ReactNode };

export function ActivityPage({ place, title, about, actions, children }: Props) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  return (
    <>
      <PageHeader title={title ?? (place === 'decisions' ? t.title : t[place])} about={about} actions={actions} />
      <nav className="tabs" aria-label={t.title}>
        {places[tenant.role].map((one) => (
          <RouterLink
            key={one}
            to={tenantPath(tenant.code, pathOf(one)) as never}
            activeOptions={{ exact: one === 'decisions' }}
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
