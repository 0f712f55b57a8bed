/** Over the page when the session has ended: what is typed below stays, in the page and in drafts. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { logInPath } from '../core/session.ts';
import { useSessionEnded } from '../core/session-end.ts';
import { Dialog } from './dialog.tsx';
import { useUiTexts } from './texts.ts';

export function SessionOver() {
  const texts = useUiTexts();
  const hasEnded = useSessionEnded();
  const [isAside, setAside] = useState(false);
  if (!hasEnded) return null;
  if (isAside)
    return (
      <div className="notice warn" role="alert">
        <span />
        <div className="row">
          {texts.sessionEnded} <a href={logInPath()}>{texts.logIn}</a>
        </div>
      </div>
    );
  return (
    <Dialog label={texts.sessionEnded} onClose={() => setAside(true)}>
      <h2>{texts.sessionEnded}</h2>
      <p>{texts.sessionEndedWhy}</p>
      <div className="actions">
        <Button variant="default" onClick={() => setAside(true)}>
          {texts.stay}
        </Button>
        <Button component="a" href={logInPath()}>
          {texts.logIn}
        </Button>
      </div>
    </Dialog>
  );
}
