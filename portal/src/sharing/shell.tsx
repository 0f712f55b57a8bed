/** Around each page: the tenant's name and logo, the three pages, and what the person may choose. */
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { Icon } from '../ui/icons.tsx';
import { LooksItems } from '../ui/looks.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { useUiTexts } from '../ui/texts.ts';
import { brand, monogram } from './brand.ts';
import { useSession } from './session.ts';
import { useSharingTexts } from './texts.ts';

const pages = ['shares', 'invitations', 'consents'] as const;
const pathOf = (page: (typeof pages)[number]) => (page === 'shares' ? '/sharing' : `/sharing/${page}`);

export function Shell() {
  const t = useSharingTexts();
  const ui = useUiTexts();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const before = useRef(pathname);
  useEffect(() => {
    // A new page is read from its begin, by eye and by screen reader.
    if (before.current !== pathname) main.current?.focus({ preventScroll: true });
    if (before.current !== pathname) scrollTo(0, 0);
    before.current = pathname;
  }, [pathname]);
  return (
    <div className="own">
      <a className="skip" href="#main">
        {ui.skip}
      </a>
      <header className="own-top">
        <div className="own-brand">
          {brand.logo === undefined ? (
            <span className="monogram" aria-hidden="true">
              {monogram}
            </span>
          ) : (
            <img src={brand.logo} alt="" />
          )}
          <span>{brand.name}</span>
        </div>
        <OwnMenu />
      </header>
      <nav className="tabs" aria-label={ui.main}>
        {pages.map((page) => (
          <Link key={page} to={pathOf(page) as never} activeOptions={{ exact: true }}>
            {t.pages[page]}
          </Link>
        ))}
      </nav>
      <main id="main" tabIndex={-1} ref={main}>
        <Outlet />
      </main>
    </div>
  );
}

function OwnMenu() {
  const t = useSharingTexts();
  const ui = useUiTexts();
  const { email, displayName, accountUrl } = useSession();
  return (
    <Menu
      label={`${ui.account}: ${displayName ?? email}`}
      className="plain chip"
      button={
        <>
          <Icon name="person" /> <span className="cut">{displayName ?? email}</span>
        </>
      }
    >
      <h2>{email}</h2>
      <MenuItem href={accountUrl}>
        <Icon name="settings" /> {t.account}
      </MenuItem>
      <hr />
      <LooksItems />
    </Menu>
  );
}

/** The head of a page. */
export function Head({ title, about }: { title: string; about: ReactNode }) {
  useEffect(() => {
    document.title = `${title} – ${brand.name}`;
  }, [title]);
  return (
    <div className="head">
      <h1>{title}</h1>
      <p className="dim">{about}</p>
    </div>
  );
}

export function NotFound() {
  const t = useSharingTexts();
  return <Head title={t.notFound} about={<Link to={pathOf('shares') as never}>{t.pages.shares}</Link>} />;
}
