/** Saves a type: a new one must not exist yet, a changed one must be as it was read. */
import { type FormEvent, useState } from 'react';
import { asRead, segment } from '../../core/api.ts';
import { isTaken } from '../../core/problem.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { reloadModel } from '../../model/load.ts';
import type { Kind } from '../../model/shapes.ts';
import { toast } from '../../ui/index.ts';
import { texts } from './texts.ts';

/** @param etag of what the form was filled with; undefined: the type is new */
export function useSaving(etag: string | undefined, onDone: (id: string) => void) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const save = async (event: FormEvent, kind: Kind, name: string, body: object) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await api.put(`/${kind}/${segment(name)}`, { body, ...asRead(etag) });
      await reloadModel(tenant.code);
      toast({ text: t.saved(name) });
      onDone(`${kind}/${name}`);
    } catch (caught) {
      setError(etag === undefined && isTaken(caught) ? new Error(t.exists(name)) : caught);
      setBusy(false);
    }
  };
  return { error, isBusy, save };
}
