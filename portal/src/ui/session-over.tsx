/**
 * Over the page when the session has ended, or the person is no member any more. What is typed below stays: the log-in is in another
 * tab, and this page goes on when somebody comes back to it. Who is no member any more sees no records below it.
 */
import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { api } from '../core/api.ts';
import { base, ownTenant } from '../core/page.ts';
import { forgetRecords } from '../core/query.ts';
import { isMemberHere, logInPath, type Session } from '../core/session.ts';
import { membershipEnded, useSessionEnded } from '../core/session-end.ts';
import { Dialog } from './dialog.tsx';
import { useUiTexts } from './texts.ts';

/** The API of a tenant refuses who is no member of it as it refuses who is not logged in: the session tells which it is. */
async function whatEnded(): Promise<'session' | 'membership'> {
  if (ownTenant !== '') return 'session'; // of an account, which is no member
  try {
    return isMemberHere((await api.get<Session>('/portal/session')).data) ? 'session' : 'membership';
  } catch {
    return 'session';
  }
}

export function SessionOver() {
  const texts = useUiTexts();
  const hasEnded = useSessionEnded() !== undefined;
  const [ended, setEnded] = useState<'session' | 'membership'>();
  const [isAside, setAside] = useState(false);
  useEffect(() => {
    if (hasEnded)
      return void whatEnded().then((what) => {
        setEnded(what);
        if (what !== 'membership') return;
        membershipEnded();
        forgetRecords();
      });
    setEnded(undefined);
    setAside(false);
  }, [hasEnded]);
  if (!hasEnded || ended === undefined) return null;
  const isMember = ended === 'session';
  const title = isMember ? texts.sessionEnded : texts.memberRemoved;
  const tab = isMember ? { target: '_blank', rel: 'noopener' } : {};
  const [to, word] = isMember ? [logInPath(), texts.logIn] : [`${base}/portal`, texts.otherTenants];
  if (isAside)
    return (
      <div className="notice warn" role="alert">
        <span />
        <div className="row">
          {title}{' '}
          <a href={to} {...tab}>
            {word}
          </a>
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
        <Button component="a" href={to} {...tab}>
          {word}
        </Button>
      </div>
    </Dialog>
  );
}
