/** Changing how the pages look. What is typed is kept until it is saved; what somebody else saved meanwhile is shown before it is replaced. */
import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { defaultColour, isColour } from '../../../../../server/pages/brand.ts';
import { asRead } from '../../../core/api.ts';
import { useDraft } from '../../../core/drafts.ts';
import { isConflict } from '../../../core/problem.ts';
import { queryClient } from '../../../core/query.ts';
import { useTenant } from '../../../core/session.ts';
import { useTexts } from '../../../core/texts.ts';
import { DraftConflict, Facts, ProblemAlert, toast } from '../../../ui/index.ts';
import {
  brandingFacts,
  brandingOf,
  type Form,
  formOf,
  isSame,
  type PageLanguage,
  pageLanguages,
  type Stored,
} from './branding.ts';
import { Contrast } from './contrast.tsx';
import { texts } from './texts.ts';

export function PagesForm({ stored, etag }: { stored: Stored; etag: string | undefined }) {
  const t = useTexts(texts);
  const editing = useBranding(stored, etag);
  const { form, change, error, isBusy, isDirty, meanwhile } = editing;
  const isWrong = form.colour.trim() !== '' && !isColour(form.colour.trim());
  return (
    <form className="form" onSubmit={editing.save}>
      <TextInput
        label={t.displayName}
        required
        value={form.displayName}
        onChange={(event) => change({ displayName: event.currentTarget.value })}
      />
      <TextInput
        label={t.logo}
        type="url"
        pattern="https://.*"
        value={form.logo}
        onChange={(event) => change({ logo: event.currentTarget.value })}
      />
      <div className="row" style={{ alignItems: 'end' }}>
        <TextInput
          label={t.colour}
          description={t.colourWhy}
          value={form.colour}
          {...(isWrong ? { error: t.notColour } : {})}
          onChange={(event) => change({ colour: event.currentTarget.value })}
        />
        <input
          type="color"
          aria-label={t.pickColour}
          value={isColour(form.colour.trim()) ? form.colour.trim() : defaultColour}
          onChange={(event) => change({ colour: event.currentTarget.value })}
        />
      </div>
      <Languages chosen={form.languages} onChange={(languages) => change({ languages })} />
      {!isWrong && <Contrast colour={form.colour.trim()} name={form.displayName} />}
      {meanwhile && (
        <DraftConflict onKeep={editing.goOn} onDrop={editing.discard}>
          <Facts facts={brandingFacts(stored, t)} />
        </DraftConflict>
      )}
      {error !== undefined && <ProblemAlert error={error} />}
      {isDirty && <p className="dim">{t.draftKept}</p>}
      <div className="row">
        <Button type="submit" loading={isBusy} disabled={!isDirty || isWrong || meanwhile}>
          {t.save}
        </Button>
        {isDirty && (
          <Button variant="subtle" onClick={editing.discard}>
            {t.discard}
          </Button>
        )}
      </div>
    </form>
  );
}

function useBranding(stored: Stored, etag: string | undefined) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const now = formOf(stored);
  // The ETag is of the whole tenant, and changes with anything of it: a draft has what was stored of the form when it was begun.
  const kept = useDraft<Form & { of?: Form }>(`${tenant.code}/branding`);
  const { of: begun = now, ...form }: Form & { of?: Form } = kept.draft ?? now;
  const reload = () => queryClient.invalidateQueries({ queryKey: ['branding', tenant.code] });
  const put = async (over: { data: Stored; etag: string | undefined }): Promise<void> => {
    try {
      await api.put('/branding', { body: brandingOf(form, over.data), ...asRead(over.etag) });
    } catch (caught) {
      if (!isConflict(caught)) throw caught;
      const fresh = await api.get<Stored>('/branding');
      // Something else of the tenant changed, and not this: nobody's work is replaced.
      if (!isSame(formOf(fresh.data), begun) || fresh.etag === over.etag) throw caught;
      await put(fresh);
    }
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await put({ data: stored, etag });
      await reload();
      kept.saved(kept.draft, undefined, (typed) => ({ ...typed, of: form }));
      toast({ text: t.saved });
    } catch (caught) {
      setError(caught);
      if (isConflict(caught)) await reload();
    }
    setBusy(false);
  };
  const decide = (how: () => void) => () => {
    how();
    setError(undefined);
  };
  return {
    ...{ form, error, isBusy, save },
    isDirty: !isSame(form, now),
    meanwhile: !isBusy && !isSame(begun, now) && !isSame(form, now),
    change: (part: Partial<Form>) => kept.keep({ ...form, ...part, of: begun }),
    goOn: decide(() => kept.rebase({ ...form, of: now })),
    discard: decide(kept.drop),
  };
}

function Languages({ chosen, onChange }: { chosen: PageLanguage[]; onChange: (chosen: PageLanguage[]) => void }) {
  const t = useTexts(texts);
  return (
    <fieldset>
      <legend>{t.languages}</legend>
      <p className="dim">{t.languagesWhy}</p>
      {pageLanguages.map((one) => (
        <label key={one}>
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(checked ? [...chosen, one] : chosen.filter((other) => other !== one))
            }
          />{' '}
          {t.languageNames[one]} {chosen.includes(one) && `(${chosen.indexOf(one) + 1})`}
        </label>
      ))}
    </fieldset>
  );
}
