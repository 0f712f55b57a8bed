/** Whether there is a draft, and saving it: first its impact, then Save. */
import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTexts } from '../../core/texts.ts';
import { ShowChange } from '../../manifests/index.ts';
import { Notice, RelativeTime, State } from '../../ui/index.ts';
import { Impact } from './impact.tsx';
import { specOf } from './manifest.ts';
import { texts } from './texts.ts';
import type { Checked } from './use-check.ts';
import type { Editing } from './use-editing.ts';

type Props = { name: string; editing: Editing; checked: Checked; owner: string };

/** Ctrl-S does what the button does: it leads to the impact. */
function useSaveKey(isOff: boolean, onSave: () => void) {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== 's') return;
      event.preventDefault();
      if (!isOff) onSave();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  });
}

export function SaveBar({ name, editing, checked, owner }: Props) {
  const t = useTexts(texts);
  const [isOpen, setOpen] = useState(false);
  const { draft, isDirty, at, isSaving, base } = editing;
  const isManaged = owner !== 'api';
  const isBroken = checked.problems.length > 0;
  const failing = checked.failed?.size ?? 0;
  useSaveKey(!isDirty || isBroken, () => setOpen(true));
  const finish = isManaged ? (
    <ShowChange
      of={{ kind: 'Policy', name }}
      spec={(stored) => specOf(draft, stored)}
      isDisabled={!isDirty || isBroken}
    />
  ) : (
    <Button
      disabled={!isDirty || isBroken || failing > 0}
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
              {failing > 0 && <Notice tone="bad">{t.refusedByCases(failing)}</Notice>}
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
