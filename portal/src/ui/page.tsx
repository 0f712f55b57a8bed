/** The head of a page, states, and what a manifest owns. */
import { type ReactNode, useContext, useEffect } from 'react';
import { base } from '../core/page.ts';
import { GuideContext } from '../core/screen.ts';
import { SessionContext } from '../core/session.ts';
import { Icon, type IconName } from './icons.tsx';
import { Link } from './link.tsx';
import { useUiTexts } from './texts.ts';

type HeaderProps = {
  title: string;
  /** One line that says what this is. */
  about?: ReactNode;
  /** Where the page comes from, below the tenant. */
  back?: { to: string; label: string };
  /** The primary action last. */
  actions?: ReactNode;
};

export function PageHeader({ title, about, back, actions }: HeaderProps) {
  const texts = useUiTexts();
  const page = useContext(GuideContext);
  const site = useContext(SessionContext)?.guide;
  const guide = site !== undefined && page !== undefined ? `${base}${site}${page}` : undefined;
  useEffect(() => {
    document.title = `${title} · Accord`;
  }, [title]);
  return (
    <header className="page-header">
      {back && (
        <span className="back">
          <Link to={back.to}>
            <Icon name="arrowLeft" /> {back.label}
          </Link>
        </span>
      )}
      <div>
        <h1>{title}</h1>
        {(about ?? guide) !== undefined && (
          <p className="dim">
            {about}{' '}
            {guide !== undefined && (
              <a href={guide} target="_blank" rel="noreferrer">
                {texts.guide}
              </a>
            )}
          </p>
        )}
      </div>
      {actions && <div className="page-actions">{actions}</div>}
    </header>
  );
}

type Tone = 'ok' | 'bad' | 'warn' | 'accent' | 'none';
const signs: { [K in Tone]?: IconName } = { ok: 'check', bad: 'error', warn: 'warning' };

/** A state: a colour is never alone, an icon and a word stand beside it. */
export const State = ({ tone, icon, children }: { tone: Tone; icon?: IconName; children: ReactNode }) => {
  const sign = icon ?? signs[tone];
  return (
    <span className={`state ${tone}`}>
      {sign && <Icon name={sign} size={14} />}
      {children}
    </span>
  );
};

export function ManagedBy({ owner }: { owner: string }) {
  const texts = useUiTexts();
  return (
    <span className="state">
      <Icon name="lock" size={14} /> {texts.managedBy(owner)}
    </span>
  );
}

/** Words on something that needs attention and is no error. */
export const Notice = ({ tone = 'none', children }: { tone?: 'none' | 'warn' | 'bad'; children: ReactNode }) => (
  <div className={`notice ${tone}`}>
    <Icon name={tone === 'none' ? 'info' : 'warning'} />
    <div>{children}</div>
  </div>
);
