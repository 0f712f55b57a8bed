/** Somebody else saved since a draft was begun: what is stored is shown, and nothing is saved before the person decides. */
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Notice } from './page.tsx';
import { useUiTexts } from './texts.ts';

/** @param children what is stored now */
export function DraftConflict(props: { children: ReactNode; onKeep: () => void; onDrop: () => void }) {
  const t = useUiTexts();
  return (
    <Notice tone="warn">
      <strong>{t.problemConflict}</strong>
      <p>{t.draftConflictWhy}</p>
      {props.children}
      <div className="chips">
        <Button variant="default" onClick={props.onKeep}>
          {t.goOnWithMine}
        </Button>
        <Button variant="default" onClick={props.onDrop}>
          {t.takeTheirs}
        </Button>
      </div>
    </Notice>
  );
}
