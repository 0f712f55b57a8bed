/** Saves a type: a new one must not exist yet, a changed one must be as it was read. */
import { type FormEvent, useState } from 'react';
import { isTaken } from '../../core/problem.ts';
import { useTexts } from '../../core/texts.ts';
import type { Kind } from '../../model/shapes.ts';
import { type Stored, useChanges } from './changes.ts';
import { texts } from './texts.ts';

/** @param before what the form was filled with; undefined: the type is new */
export function useSaving(before: Stored | undefined, onDone: (id: string) => void) {
  const t = useTexts(texts);
  const { put } = useChanges();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const save = async (event: FormEvent, kind: Kind, name: string, body: object) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await put(kind, name, body, before);
      onDone(`${kind}/${name}`);
    } catch (caught) {
      setError(before === undefined && isTaken(caught) ? new Error(t.exists(name)) : caught);
      setBusy(false);
    }
  };
  return { error, isBusy, save };
}
