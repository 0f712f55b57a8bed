/** Changing how the pages look. What is typed is kept until it is saved; what somebody else saved meanwhile is shown before it is replaced. */
import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { defaultColour, isColour, surfaces } from '../../../../../server/pages/brand.ts';
import { asRead } from '../../../core/api.ts';
import { useDraft } from '../../../core/drafts.ts';
import { base } from '../../../core/page.ts';
import { isConflict } from '../../../core/problem.ts';
import { queryClient } from '../../../core/query.ts';
import { useTenant } from '../../../core/session.ts';
import { useTexts } from '../../../core/texts.ts';
import { ShowChange } from '../../../manifests/index.ts';
import { DraftConflict, Facts, ProblemAlert, toast } from '../../../ui/index.ts';
import {
  brandingFacts,
  brandingOf,
  type Form,
  formOf,
  isColourOrNone,
  isSame,
  type PageLanguage,
  pageLanguages,
  type Stored,
  specOf,
} from './branding.ts';
import { Contrast } from './contrast.tsx';
import { LogInPreview } from './log-in-preview.tsx';
import { ofTenant } from './manifest.ts';
import { texts } from './texts.ts';

type Props = {
  stored: Stored;
  etag: string | undefined;
  /** A manifest owns it: the change is a text to apply. */
  isManaged: boolean;
};

export function PagesForm({ stored, etag, isManaged }: Props) {
  const t = useTexts(texts);
  const editing = useBranding(stored, etag);
  const { tenant } = useTenant();
  const { form, change, error, isBusy, isDirty, meanwhile } = editing;
  const isWrong = !isColourOrNone(form.colour) || !isColourOrNone(form.background);
  return (
    <>
      <form className="form" onSubmit={isManaged ? (event) => event.preventDefault() : editing.save}>
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
        <Colour
          label={t.colour}
          about={t.colourWhy}
          value={form.colour}
          fallback={defaultColour}
          onChange={(colour) => change({ colour })}
        />
        <Colour
          label={t.background}
          about={t.backgroundWhy}
          value={form.background}
          fallback={surfaces.light.paper}
          onChange={(background) => change({ background })}
        />
        <Languages chosen={form.languages} onChange={(languages) => change({ languages })} />
        <label>
          <input
            type="checkbox"
            checked={form.sharingPage}
            onChange={(event) => change({ sharingPage: event.currentTarget.checked })}
          />{' '}
          {t.sharingPage}
        </label>
        <p className="dim" style={{ overflowWrap: 'anywhere' }}>
          {t.sharingPageWhy(`${location.origin}${base}/${tenant.code}/account/sharing`)}
        </p>
        <Contrast of={form} />
        {meanwhile && (
          <DraftConflict onKeep={editing.goOn} onDrop={editing.discard}>
            <Facts facts={brandingFacts(stored, t)} />
          </DraftConflict>
        )}
        {error !== undefined && <ProblemAlert error={error} />}
        {isDirty && <p className="dim">{t.draftKept}</p>}
        <div className="row">
          {isManaged ? (
            <ShowChange
              of={ofTenant(tenant.code)}
              spec={(spec) => specOf(brandingOf(form), spec)}
              isDisabled={!isDirty || isWrong || meanwhile}
            />
          ) : (
            <Button type="submit" loading={isBusy} disabled={!isDirty || isWrong || meanwhile}>
              {t.save}
            </Button>
          )}
          {isDirty && (
            <Button variant="subtle" onClick={editing.discard}>
              {t.discard}
            </Button>
          )}
        </div>
      </form>
      <LogInPreview of={form} />
    </>
  );
}

type ColourProps = {
  label: string;
  about: string;
  value: string;
  /** What the picker begins with where there is none. */
  fallback: string;
  onChange: (colour: string) => void;
};

function Colour({ label, about, value, fallback, onChange }: ColourProps) {
  const t = useTexts(texts);
  const typed = value.trim();
  return (
    <div className="row" style={{ alignItems: 'end', flexWrap: 'nowrap' }}>
      <TextInput
        style={{ flex: 1 }}
        label={label}
        description={about}
        value={value}
        {...(isColourOrNone(value) ? {} : { error: t.notColour })}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <input
        type="color"
        aria-label={t.pickColour(label)}
        value={isColour(typed) ? typed : fallback}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}

function useBranding(stored: Stored, etag: string | undefined) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const now = formOf(stored);
  // The ETag is of the whole tenant, and changes with anything of it: a draft has what was stored of the form when it was begun.
  const kept = useDraft<Partial<Form> & { of?: Form }>(`${tenant.code}/branding`);
  // A draft of an earlier version may lack fields.
  const { of: begun = now, ...form }: Form & { of?: Form } = { ...now, ...kept.draft };
  const reload = () => queryClient.invalidateQueries({ queryKey: ['branding', tenant.code] });
  const put = async (over: string | undefined): Promise<void> => {
    try {
      await api.put('/branding', { body: brandingOf(form), ...asRead(over) });
    } catch (caught) {
      if (!isConflict(caught)) throw caught;
      const fresh = await api.get<Stored>('/branding');
      // Something else of the tenant changed, and not this: nobody's work is replaced.
      if (!isSame(formOf(fresh.data), begun) || fresh.etag === over) throw caught;
      await put(fresh.etag);
    }
  };
  const save = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await put(etag);
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
