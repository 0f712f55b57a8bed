/** The name of a policy that is not stored yet, which can still be another, and discarding it. */
import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useGo } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { useKeepNew, useReadDraft } from '../../core/drafts.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Dialog, ProblemAlert } from '../../ui/index.ts';
import { isName, nameHintOf } from './new-policy.tsx';
import type { Draft } from './shapes.ts';
import { packageOf } from './templates.ts';
import { texts } from './texts.ts';
import { type Editing, readPolicy } from './use-editing.ts';

type Props = { name: string; editing: Editing; template: string | undefined };

export function RenameNew(props: Props) {
  const t = useTexts(texts);
  const go = useGo();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="row">
      <Button variant="default" onClick={() => setOpen(true)}>
        {t.rename}
      </Button>
      <Button
        variant="default"
        onClick={() => {
          props.editing.drop();
          go('/policies', { replace: true });
        }}
      >
        {t.discardNew}
      </Button>
      {isOpen && <Rename {...props} onClose={() => setOpen(false)} />}
    </div>
  );
}

function Rename({ name, editing, template, onClose }: Props & { onClose: () => void }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const go = useGo();
  const keepNew = useKeepNew();
  const readDraft = useReadDraft();
  const [typed, setTyped] = useState(name);
  const [said, setSaid] = useState<string>();
  const [error, setError] = useState<unknown>();
  const rename = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    if (typed === name) return onClose();
    if (!isName(typed)) return setSaid(t.nameRule);
    const draft = `${tenant.code}/policy/${typed}`;
    try {
      if (await readPolicy(api, typed)) return setSaid(t.nameTaken(typed));
    } catch (caught) {
      return setError(caught);
    }
    // One that is not stored either is somebody's work, too.
    if (readDraft(draft) !== undefined) return setSaid(t.nameOfDraft(typed));
    keepNew(draft, renamed(editing.draft, name, typed));
    editing.drop();
    go(`/policies/${segment(typed)}?template=${template ?? 'deny'}`, { replace: true });
  };
  return (
    <Dialog label={t.rename} onClose={onClose}>
      <form className="stack" onSubmit={rename}>
        <h2>{t.rename}</h2>
        <p className="dim">{t.renameAbout}</p>
        <TextInput
          {...{ label: t.name, description: nameHintOf(t, typed), value: typed, error: said }}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setSaid(undefined);
          }}
        />
        {error !== undefined && <ProblemAlert error={error} />}
        <div className="actions">
          <Button type="submit">{t.rename}</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** A package that was made from the old name is made from the new one. */
function renamed(draft: Draft, from: string, to: string): Draft {
  const before = `package ${packageOf(from)}\n`;
  if (!draft.rego?.startsWith(before)) return draft;
  return { ...draft, rego: `package ${packageOf(to)}\n${draft.rego.slice(before.length)}` };
}
