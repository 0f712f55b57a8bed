/** Over the page when the session has ended, or the person is no member any more: what is typed below stays, in the page and in drafts. */
import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { api } from '../core/api.ts';
import { base } from '../core/page.ts';
import { logInPath, type Session } from '../core/session.ts';
import { useSessionEnded } from '../core/session-end.ts';
import { Dialog } from './dialog.tsx';
import { useUiTexts } from './texts.ts';

/** The API of a tenant refuses who is no member of it as it refuses who is not logged in: the session tells which it is. */
async function whatEnded(): Promise<'session' | 'membership'> {
  try {
    const { tenants } = (await api.get<Session>('/portal/session')).data;
    const isIn = ({ code }: { code: string }) =>
      `${location.pathname}/`.startsWith(`${base}/portal/t/${encodeURIComponent(code)}/`);
    return tenants.some(isIn) ? 'session' : 'membership';
  } catch {
    return 'session';
  }
}

export function SessionOver() {
  const texts = useUiTexts();
  const hasEnded = useSessionEnded();
  const [ended, setEnded] = useState<'session' | 'membership'>();
  const [isAside, setAside] = useState(false);
  useEffect(() => {
    if (hasEnded) void whatEnded().then(setEnded);
  }, [hasEnded]);
  if (ended === undefined) return null;
  const isMember = ended === 'session';
  const title = isMember ? texts.sessionEnded : texts.memberRemoved;
  const [to, word] = isMember ? [logInPath(), texts.logIn] : [`${base}/portal`, texts.otherTenants];
  if (isAside)
    return (
      <div className="notice warn" role="alert">
        <span />
        <div className="row">
          {title} <a href={to}>{word}</a>
        </div>
      </div>
    );
  return (
    <Dialog label={title} onClose={() => setAside(true)}>
      <h2>{title}</h2>
      <p>{isMember ? texts.sessionEndedWhy : texts.memberRemovedWhy}</p>
      <div className="actions">
        <Button variant="default" onClick={() => setAside(true)}>
          {texts.stay}
        </Button>
        <Button component="a" href={to}>
          {word}
        </Button>
      </div>
    </Dialog>
  );
}
