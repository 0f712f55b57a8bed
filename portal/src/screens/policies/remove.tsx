/** Deletes a policy after a question. It can be put back, unless somebody else made one of its name since. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useGo } from '../../core/address.ts';
import { asRead, notStored, segment } from '../../core/api.ts';
import { isTaken } from '../../core/problem.ts';
import { queryClient } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Confirm, toast } from '../../ui/index.ts';
import { bodyOf, draftOf, type Stored } from './shapes.ts';
import { texts } from './texts.ts';

export function RemovePolicy({ stored }: { stored: Stored }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const go = useGo();
  const [isAsking, setAsking] = useState(false);
  const { name } = stored.policy;
  const path = `/policies/${segment(name)}`;
  const draft = draftOf(stored.policy);
  const reload = () => queryClient.invalidateQueries({ queryKey: ['policies', tenant.code] });
  const putBack = async () => {
    try {
      await api.put(path, { body: bodyOf(draft), ...asRead(notStored) });
      toast({ text: t.putBack(name) });
    } catch (caught) {
      // The page is left since: a toast is on every page.
      toast({ text: isTaken(caught) ? t.notPutBackByOther(name) : t.notPutBack(name, (caught as Error).message) });
    }
    await reload();
  };
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {t.remove}
      </Button>
      {isAsking && (
        <Confirm
          title={t.removeTitle(name)}
          consequences={t.removeWhat(name, draft.tests.length)}
          action={t.removeIt}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await api.delete(path, asRead(stored.etag));
            queryClient.removeQueries({ queryKey: ['policies', tenant.code, 'one', name] });
            toast({ text: t.removed(name), undo: () => void putBack() });
            go('/policies', { replace: true });
            await reload();
          }}
        />
      )}
    </>
  );
}
