/** The page before a tenant is chosen, and addresses at which there is nothing. */
import { Link, Navigate } from '@tanstack/react-router';
import { tenantPath } from '../core/address.ts';
import { useSession } from '../core/session.ts';
import { Notice } from './page.tsx';
import { useUiTexts } from './texts.ts';

export function ChooseTenant({ missing }: { missing?: string }) {
  const texts = useUiTexts();
  const { tenants, email } = useSession();
  const [only] = tenants;
  if (only !== undefined && tenants.length === 1 && missing === undefined)
    return <Navigate to={tenantPath(only.code, '/overview') as never} replace />;
  return (
    <main className="choice stack">
      <h1>{tenants.length === 0 ? texts.noTenants : texts.chooseTenant}</h1>
      {missing !== undefined && (
        <Notice tone="warn">
          <p>{texts.notMember(missing)}</p>
          <p className="dim">{texts.notMemberWhy}</p>
        </Notice>
      )}
      {tenants.length === 0 && (
        <p>
          {texts.noTenantsWhy}
          <strong>{email}</strong>
        </p>
      )}
      <ul>
        {tenants.map((one) => (
          <li key={one.code}>
            <Link to={tenantPath(one.code, '/overview') as never}>
              <span>
                <strong>{one.name}</strong> <span className="dim mono">{one.code}</span>
              </span>
              <span className="dim">{texts.roles[one.role]}</span>
            </Link>
          </li>
        ))}
      </ul>
    </main>
  );
}

export function NotFound() {
  const texts = useUiTexts();
  return (
    <main className="choice stack">
      <h1>{texts.notFound}</h1>
      <Notice>
        <Link to={'/' as never}>{texts.toStart}</Link>
      </Notice>
    </main>
  );
}
