/** Around each page of a tenant: the rail with its screens, the tenant switch, the environment, the palette. */
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { tenantPath } from '../core/address.ts';
import type { Screen } from '../core/screen.ts';
import { useSession, useTenant } from '../core/session.ts';
import { useTexts } from '../core/texts.ts';
import { screens } from '../screens/index.ts';
import { AccountMenu } from './account-menu.tsx';
import { Icon } from './icons.tsx';
import { Menu } from './menu.tsx';
import { useUiTexts } from './texts.ts';

const Palette = lazy(() => import('../palette/palette.tsx'));
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

function usePalette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  return { isOpen, open: () => setOpen(true), close: () => setOpen(false) };
}

export function Shell() {
  const texts = useUiTexts();
  const { environment } = useSession();
  const { tenant } = useTenant();
  const palette = usePalette();
  const [isRailOpen, setRailOpen] = useState(false);
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const before = useRef(pathname);
  useEffect(() => {
    setRailOpen(false);
    // A new page is read from its begin, by eye and by screen reader.
    if (before.current !== pathname) main.current?.focus({ preventScroll: true });
    if (before.current !== pathname) scrollTo(0, 0);
    before.current = pathname;
  }, [pathname]);
  const isProduction = /^prod/i.test(environment ?? '');
  return (
    <div className={isProduction ? 'shell is-production' : 'shell'}>
      <a className="skip" href="#main">
        {texts.skip}
      </a>
      <header className="shell-top">
        <button
          type="button"
          className="plain chip"
          aria-expanded={isRailOpen}
          onClick={() => setRailOpen(!isRailOpen)}
        >
          <Icon name={isRailOpen ? 'close' : 'menu'} /> {texts.menu}
        </button>
        <span className="grow">{tenant.name}</span>
        <button type="button" className="plain chip" aria-label={texts.searchAll} onClick={palette.open}>
          <Icon name="search" />
        </button>
      </header>
      <nav className={isRailOpen ? 'rail open' : 'rail'} aria-label={texts.main}>
        <Rail onSearch={palette.open} />
      </nav>
      <main id="main" className="shell-main" tabIndex={-1} ref={main}>
        <Outlet />
      </main>
      {palette.isOpen && (
        <Suspense>
          <Palette onClose={palette.close} />
        </Suspense>
      )}
    </div>
  );
}

function Rail({ onSearch }: { onSearch: () => void }) {
  const texts = useUiTexts();
  const { environment } = useSession();
  return (
    <>
      <div className="brand">
        <Icon name="consents" /> Accord
      </div>
      {environment !== undefined && <p className="environment">{environment}</p>}
      <TenantSwitch />
      <button type="button" className="plain rail-search" onClick={onSearch}>
        <Icon name="search" /> {texts.searchAll} <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <div className="places">
        {screens.map((screen) => (
          <Place key={screen.id} screen={screen} />
        ))}
      </div>
      <AccountMenu />
    </>
  );
}

function Place({ screen: { id, icon, texts } }: { screen: Screen }) {
  const { tenant } = useTenant();
  const { pathname } = useLocation();
  const { title } = useTexts(texts);
  const to = tenantPath(tenant.code, `/${id}`);
  const isHere = pathname === to || pathname.startsWith(`${to}/`);
  return (
    <Link
      to={to as never}
      className={id === 'settings' ? 'foot' : ''}
      aria-current={isHere ? 'page' : undefined}
      preload="intent"
    >
      <Icon name={icon} /> {title}
    </Link>
  );
}

function TenantSwitch() {
  const texts = useUiTexts();
  const { tenants } = useSession();
  const { tenant } = useTenant();
  const named = (
    <span>
      <strong>{tenant.name}</strong>
      <span className="dim">{texts.roles[tenant.role]}</span>
    </span>
  );
  if (tenants.length < 2) return <div className="tenant-switch">{named}</div>;
  return (
    <Menu
      start
      label={`${texts.switchTenant}: ${tenant.name}`}
      className="plain tenant-switch"
      button={
        <>
          {named}
          <Icon name="chevronDown" />
        </>
      }
    >
      <h2>{texts.tenants}</h2>
      {tenants.map((one) => (
        <Link key={one.code} role="menuitem" to={tenantPath(one.code, '/overview') as never}>
          {one.code === tenant.code && <Icon name="check" />} {one.name} <span className="dim mono">{one.code}</span>
        </Link>
      ))}
    </Menu>
  );
}
