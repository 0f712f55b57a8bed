/** Saves a part of a definition, and loads the time line again. */
import { type FormEvent, useState } from 'react';
import { queryClient } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';

export type Sanitized = { digest: string; removed: string[] };
type Put = { path: string; body: object; etag?: string | undefined };

export function useSave(done: (sanitized: Sanitized | undefined) => void) {
  const { tenant, api } = useTenant();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const save = async (event: FormEvent, { path, body, etag }: Put) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const { data } = await api.put<{ content?: Sanitized }>(path, {
        body,
        ...(etag === undefined ? {} : { ifMatch: etag }),
      });
      await queryClient.invalidateQueries({ queryKey: ['consents', tenant.code] });
      done(data.content);
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  return { save, error, isBusy };
}
