/** A page of a screen that has several: its head, and the way from one to the other. */
import { Link as RouterLink } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { tenantPath } from '../core/address.ts';
import { useTenant } from '../core/session.ts';
import { PageHeader } from './page.tsx';

/** @param to below the tenant. `isFirst`: the others lie below it. */
export type Tab = { to: string; label: string; isFirst?: boolean };
type Props = {
  title: string;
  about: string;
  /** The list that it is of. */
  back?: { to: string; label: string };
  actions?: ReactNode;
  /** What the tabs are of. */
  label: string;
  tabs: readonly Tab[];
  children: ReactNode;
};
/** Of a page of such a screen: which one it is, and of an object of it the title. */
export type PageOf<Place> = Omit<Props, 'title' | 'label' | 'tabs'> & { place: Place; title?: string };

export function TabbedPage({ title, about, back, actions, label, tabs, children }: Props) {
  const { tenant } = useTenant();
  return (
    <>
      <PageHeader {...{ title, about, back, actions }} />
      <nav className="tabs" aria-label={label}>
        {tabs.map(({ to, label: name, isFirst = false }) => (
          <RouterLink
            key={to}
            to={tenantPath(tenant.code, to) as never}
            activeOptions={{ exact: isFirst, includeSearch: false }}
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
