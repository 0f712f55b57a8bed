/** A policy that is being changed: what is stored, the draft of this browser, saving, and what to do when somebody else saved first. */
import { useCallback, useRef, useState } from 'react';
import { asRead, notStored, segment, type TenantApi } from '../../core/api.ts';
import { useDraft } from '../../core/drafts.ts';
import { isConflict, isMissing } from '../../core/problem.ts';
import { queryClient } from '../../core/query.ts';
import { useSession, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { toast } from '../../ui/index.ts';
import { useVocabulary } from './question.ts';
import { bodyOf, type Draft, draftOf, isSame, type PolicyView, type Stored, storedAs } from './shapes.ts';
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

type Part = Partial<Draft>;
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
  const { email } = useSession();
  const vocabulary = useVocabulary();
  // What the draft is of does not change below it when the server's does: only when somebody decides so.
  const [base, setBase] = useState(stored);
  const [error, setError] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const clean: Draft = base
    ? draftOf(base.policy)
    : { ...templateOf(template, name, vocabulary.relationships[0]), tests: [] };
  const kept = useDraft<Draft>(`${tenant.code}/policy/${name}`, base?.etag ?? notStored);
  const isManaged = base !== undefined && base.policy.managedBy !== 'api';
  const readOnly = !mayEdit || (isManaged && !isChanging);
  // Where nothing can be changed, what is stored is shown, also when this browser has a draft.
  const draft = readOnly ? clean : (kept.draft ?? clean);
  const isDirty = !readOnly && (kept.draft !== undefined || base === undefined);
  // What is called after a wait changes the draft of that moment, not that of the page on which it was clicked.
  const now = useRef({ draft, clean, kept, isSaved: false });
  now.current = { draft, clean, kept, isSaved: base !== undefined && !isSaving };
  /** @param part of the draft, or what makes it of the latest one */
  const change = (part: Part | ((latest: Draft) => Part)) => {
    const { draft: latest, clean: before, kept: of, isSaved } = now.current;
    const next = { ...latest, ...(typeof part === 'function' ? part(latest) : part) };
    now.current.draft = next;
    // What is being saved is not clean yet.
    if (isSaved && isSame(next, before)) of.drop();
    else of.keep(next);
  };
  const load = useCallback(async () => setBase(await readPolicy(api, name)), [api, name]);
  const path = `/policies/${segment(name)}`;
  const reload = () => queryClient.invalidateQueries({ queryKey: ['policies', tenant.code] });
  const undo = async (previous: number, etag: string | undefined) => {
    try {
      await api.post(`${path}/revisions/${previous}/restore`, etag === undefined ? {} : { ifMatch: etag });
    } catch (caught) {
      // The page may be left since: a toast is on every page.
      toast({ text: isConflict(caught) ? t.notUndoneBySave(name) : t.notUndone(name, (caught as Error).message) });
    }
    void reload();
    await load().catch(setError);
  };
  /** What was sent is the policy with this ETag, whatever can be read of it. */
  const saved = async (sent: Draft, etag: string | undefined) => {
    const read = await readPolicy(api, name).catch(() => undefined);
    const written =
      read !== undefined && read.etag === etag ? read : storedAs(sent, { name, etag, before: base?.policy, by: email });
    kept.saved(sent, etag);
    setBase(written);
    void reload();
    const { revision } = written.policy;
    const previous = base?.policy.revision;
    const isUndoable = previous !== undefined && previous !== revision;
    toast({ text: t.saved(revision), ...(isUndoable && { undo: () => void undo(previous, etag) }) });
  };
  /** @returns whether it is stored */
  const save = async (): Promise<boolean> => {
    setError(undefined);
    setSaving(true);
    // Also what nobody typed, such as a template: with what somebody else saved meanwhile it is shown beside that.
    if (kept.draft === undefined) kept.keep(draft);
    try {
      const { etag } = await api.put(path, { body: bodyOf(draft), ...asRead(base?.etag) });
      await saved(draft, etag);
      return true;
    } catch (caught) {
      if (!isConflict(caught)) {
        setError(caught);
        return false;
      }
      await load().catch(setError);
      return false;
    } finally {
      setSaving(false);
    }
  };
  const { at, rebase, drop } = kept;
  const isOld = kept.isOld && !readOnly;
  return { base, draft, isManaged, readOnly, isDirty, isOld, at, error, isSaving, change, save, rebase, drop };
}
export type Editing = ReturnType<typeof useEditing>;
