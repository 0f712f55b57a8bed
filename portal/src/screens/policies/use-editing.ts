/** A policy that is being changed: what is stored, the draft of this browser, saving, and what to do when somebody else saved first. */
import { useCallback, useState } from 'react';
import { segment, type TenantApi } from '../../core/api.ts';
import { useDraft } from '../../core/drafts.ts';
import { isConflict, isMissing } from '../../core/problem.ts';
import { queryClient } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { toast } from '../../ui/index.ts';
import { bodyOf, type Draft, draftOf, isSame, type PolicyView, type Stored } from './shapes.ts';
import { templateOf } from './templates.ts';
import { texts } from './texts.ts';

/** undefined: there is no such policy. */
export async function readPolicy(api: TenantApi, name: string, signal?: AbortSignal): Promise<Stored | undefined> {
  try {
    const { data, etag } = await api.get<PolicyView>(`/policies/${segment(name)}`, { signal });
    return { policy: data, etag };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const notStored = 'new';

type Options = {
  template: string | undefined;
  /** The role may write. */
  mayEdit: boolean;
  /** A change of what a manifest owns is open. */
  isChanging: boolean;
};

export function useEditing(name: string, stored: Stored | undefined, { template, mayEdit, isChanging }: Options) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  // What the draft is of does not change below it when the server's does: only when somebody decides so.
  const [base, setBase] = useState(stored);
  const [error, setError] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const clean: Draft = base ? draftOf(base.policy) : { ...templateOf(template, name), tests: [] };
  const kept = useDraft<Draft>(`${tenant.code}/policy/${name}`, base?.etag ?? notStored);
  const isManaged = base !== undefined && base.policy.managedBy !== 'api';
  const readOnly = !mayEdit || (isManaged && !isChanging);
  // Where nothing can be changed, what is stored is shown, also when this browser has a draft.
  const draft = readOnly ? clean : (kept.draft ?? clean);
  const isDirty = !readOnly && (kept.draft !== undefined || base === undefined);
  const change = (part: Partial<Draft>) => {
    const next = { ...draft, ...part };
    if (base && isSame(next, clean)) kept.drop();
    else kept.keep(next);
  };
  const load = useCallback(async () => setBase(await readPolicy(api, name)), [api, name]);
  const path = `/policies/${segment(name)}`;
  const saved = async (previous: number | undefined) => {
    const fresh = await readPolicy(api, name);
    kept.drop();
    setBase(fresh);
    void queryClient.invalidateQueries({ queryKey: ['policies', tenant.code] });
    const undo = async () => {
      try {
        await api.post(`${path}/revisions/${previous}/restore`, { ifMatch: fresh?.etag });
        await load();
      } catch (caught) {
        setError(caught);
      }
    };
    toast({ text: t.saved(fresh?.policy.revision ?? 1), ...(previous !== undefined && { undo: () => void undo() }) });
  };
  /** @returns whether it is stored */
  const save = async (): Promise<boolean> => {
    setError(undefined);
    setSaving(true);
    try {
      const there = base === undefined ? await readPolicy(api, name) : undefined;
      // Somebody wrote one of this name meanwhile: what was typed is kept, and both are shown.
      if (there !== undefined) {
        kept.keep(draft);
        setBase(there);
        return false;
      }
      await api.put(path, { body: bodyOf(draft), ifMatch: base?.etag });
      await saved(base?.policy.revision);
      return true;
    } catch (caught) {
      if (isConflict(caught)) await load().catch(setError);
      else setError(caught);
      return false;
    } finally {
      setSaving(false);
    }
  };
  const { at, keep, drop } = kept;
  const isOld = kept.isOld && !readOnly;
  return { base, draft, isManaged, readOnly, isDirty, isOld, at, error, isSaving, change, save, keep, drop };
}
export type Editing = ReturnType<typeof useEditing>;
