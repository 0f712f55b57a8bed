/** Writes and deletes types of the model, each with a way back where there is one. */
import { asRead, segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { reloadModel } from '../../model/load.ts';
import type { Kind, Related, Typed } from '../../model/shapes.ts';
import { toast } from '../../ui/index.ts';
import { bodyOf } from './manifest.ts';
import { texts } from './texts.ts';

export type Stored = Pick<Typed | Related, 'kind' | 'spec' | 'etag'>;

export function useChanges() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const pathOf = (kind: Kind, name: string) => `/${kind}/${segment(name)}`;
  const undoing = (name: string, act: () => Promise<unknown>) => () =>
    void act()
      .then(() => reloadModel(tenant.code))
      .catch(() => toast({ text: t.notRestored(name) }));
  /** @param before as it was read; absent: it must not be there yet */
  const put = async (kind: Kind, name: string, body: object, before?: Stored) => {
    const path = pathOf(kind, name);
    const { etag } = await api.put(path, { body, ...asRead(before?.etag) });
    await reloadModel(tenant.code);
    const back = () =>
      before === undefined
        ? api.delete(path, { ifMatch: etag })
        : api.put(path, { body: bodyOf(kind, before.spec), ...asRead(etag) });
    toast({ text: t.saved(name), ...(etag !== undefined && { undo: undoing(name, back) }) });
  };
  const remove = async ({ kind, spec, etag }: Stored) => {
    const path = pathOf(kind, spec.name);
    await api.delete(path, { ifMatch: etag });
    const back = () => api.put(path, { body: bodyOf(kind, spec), ...asRead(undefined) });
    toast({ text: t.removed(spec.name), undo: undoing(spec.name, back) });
    await reloadModel(tenant.code);
  };
  return { put, remove };
}
