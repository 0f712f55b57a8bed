/** Saves a part of a definition, and loads the time line again. */
import { type FormEvent, useState } from 'react';
import { asRead } from '../../core/api.ts';
import { isConflict } from '../../core/problem.ts';
import { queryClient } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';

export type Sanitized = { digest: string; removed: string[] };
/** `etag`: of what is changed; undefined: it is new */
type Put = { path: string; body: object; etag: string | undefined };

/** @param done with the ETag of what is stored now */
export function useSave(
  done: (sanitized: Sanitized | undefined, etag: string | undefined) => void,
  onConflict: () => Promise<unknown> = async () => {},
) {
  const { tenant, api } = useTenant();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const reload = () => queryClient.invalidateQueries({ queryKey: ['consents', tenant.code] });
  const save = async (event: FormEvent, { path, body, etag }: Put) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const { data, etag: stored } = await api.put<{ content?: Sanitized }>(path, {
        body,
        ...asRead(etag),
      });
      await reload();
      done(data.content, stored);
    } catch (caught) {
      setError(caught);
      if (isConflict(caught)) await Promise.all([reload(), onConflict()]).catch(setError);
    }
    setBusy(false);
  };
  return { save, error, isBusy };
}
