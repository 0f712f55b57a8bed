/** Saves a type: a new one must not exist yet, a changed one must be as it was read. */
import { type FormEvent, useState } from 'react';
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { toast } from '../../ui/index.ts';
import { reloadModel } from './load.ts';
import type { Kind } from './shapes.ts';
import { texts } from './texts.ts';

export function useSaving(isNew: boolean, etag: string | undefined, onDone: (id: string) => void) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const save = async (event: FormEvent, kind: Kind, name: string, body: object) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const path = `/${kind}/${segment(name)}`;
      // PUT would replace a type of this name that somebody else made.
      if (isNew && (await exists(path))) throw new Error(t.exists(name));
      await api.put(path, { body, ...(isNew ? {} : { ifMatch: etag }) });
      await reloadModel(tenant.code);
      toast({ text: t.saved(name) });
      onDone(`${kind}/${name}`);
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  const exists = (path: string) =>
    api.get(path).then(
      () => true,
      (caught: { status?: number }) => {
        if (caught.status === 404) return false;
        throw caught;
      },
    );
  return { error, isBusy, save };
}
