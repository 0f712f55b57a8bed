/** A link to a page below the tenant: <Link to="/policies/car-drive">. */
import { Link as RouterLink } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { tenantPath } from '../core/address.ts';
import { useTenant } from '../core/session.ts';

type Props = { to: string; className?: string; 'aria-label'?: string; onClick?: () => void; children: ReactNode };

export function Link({ to, children, ...rest }: Props) {
  const { tenant } = useTenant();
  const { pathname, search } = new URL(tenantPath(tenant.code, to), location.origin);
  return (
    <RouterLink to={pathname as never} search={Object.fromEntries(new URLSearchParams(search)) as never} {...rest}>
      {children}
    </RouterLink>
  );
}
