/** Whether there is a draft, and saving it: first its impact, then Save. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../../core/texts.ts';
import { ShowChange } from '../../manifests/index.ts';
import { RelativeTime, State } from '../../ui/index.ts';
import { Impact } from './impact.tsx';
import { specOf } from './manifest.ts';
import { texts } from './texts.ts';
import type { Checked } from './use-check.ts';
import type { Editing } from './use-editing.ts';

type Props = { name: string; editing: Editing; checked: Checked; owner: string };

export function SaveBar({ name, editing, checked, owner }: Props) {
  const t = useTexts(texts);
  const [isOpen, setOpen] = useState(false);
  const { draft, isDirty, at, isSaving, base } = editing;
  const isManaged = owner !== 'api';
  const isBroken = checked.problems.length > 0;
  const finish = isManaged ? (
    <ShowChange
      of={{ kind: 'Policy', name }}
      spec={(stored) => specOf(draft, stored)}
      isDisabled={!isDirty || isBroken}
    />
  ) : (
    <Button
      disabled={!isDirty || isBroken}
      loading={isSaving}
      onClick={async () => {
        await editing.save();
        setOpen(false);
      }}
    >
      {t.save}
    </Button>
  );
  return (
    <>
      <section className="policy-save" aria-label={t.draft}>
        <span>
          {isDirty ? (
            <>
              <State tone="accent">{base === undefined ? t.isNew : t.notSaved}</State>{' '}
              <span className="dim">
                {t.keptHere} {at && '· '}
                {at && <RelativeTime at={at} />}
              </span>
            </>
          ) : (
            <span className="dim">{t.noChange}</span>
          )}
        </span>
        <span className="row">
          {isDirty && base && (
            <Button variant="default" onClick={editing.drop}>
              {t.discard}
            </Button>
          )}
          {!isOpen && (
            <Button disabled={!isDirty || isBroken} onClick={() => setOpen(true)}>
              {isManaged ? t.finishChange : t.saveFirst}
            </Button>
          )}
        </span>
      </section>
      {isOpen && isDirty && (
        <Impact
          {...{ name, draft }}
          actions={
            <>
              {finish}
              <Button variant="default" onClick={() => setOpen(false)}>
                {t.goOnEditing}
              </Button>
            </>
          }
        />
      )}
    </>
  );
}
