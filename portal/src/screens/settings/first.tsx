import { Navigate } from '@tanstack/react-router';
import { tenantPath } from '../../core/address.ts';
import { mayDo, useTenant } from '../../core/session.ts';

/** Administrators come for the members, all others for their token. */
export default function First() {
  const { tenant } = useTenant();
  const place = mayDo(tenant.role, 'admin') ? 'members' : 'token';
  return <Navigate to={tenantPath(tenant.code, `/settings/${place}`) as never} replace />;
}
