/** A name and what to begin with. Nothing is stored before it is saved in the editor. */
import { Button, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useGo } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { ProblemAlert, SidePanel } from '../../ui/index.ts';
import { type TemplateName, templateNames } from './templates.ts';
import type { Texts } from './texts.en.ts';
import { texts } from './texts.ts';
import { readPolicy } from './use-editing.ts';

/** As the server checks it. */
export const isName = (name: string) =>
  name.length <= 253 && /^[^/?#\\\p{C}]+$/u.test(name) && name !== '.' && name !== '..';

/** What a name means: an action that nobody asks for is written by mistake. */
export const nameHintOf = (t: Texts, name: string) =>
  name.trim() === '' || /^[^\s:]+:[^\s:]+$/.test(name) ? t.nameHint : t.nameUnusual(name);

export function NewPolicy({ onClose }: { onClose: () => void }) {
  const t = useTexts(texts);
  const { api } = useTenant();
  const go = useGo();
  const [name, setName] = useState('');
  const [template, setTemplate] = useState<TemplateName>('deny');
  const [said, setSaid] = useState<string>();
  const [error, setError] = useState<unknown>();
  const create = async (event: FormEvent) => {
    event.preventDefault();
    setError(undefined);
    if (!isName(name)) return setSaid(t.nameRule);
    try {
      // Told before it is written; the first save makes sure.
      if (await readPolicy(api, name)) setSaid(t.nameTaken(name));
      else go(`/policies/${segment(name)}?template=${template}`);
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <SidePanel title={t.newPolicy} label={t.newPolicy} onClose={onClose}>
      <form className="stack" onSubmit={create}>
        <TextInput
          {...{ label: t.name, description: nameHintOf(t, name), value: name, error: said, placeholder: 'car:drive' }}
          data-autofocus
          onChange={(event) => {
            setName(event.currentTarget.value);
            setSaid(undefined);
          }}
        />
        <fieldset className="policy-templates">
          <legend>{t.template}</legend>
          {templateNames.map((one) => (
            <label key={one}>
              <input type="radio" name="template" checked={template === one} onChange={() => setTemplate(one)} />
              <span>
                <strong>{t.templates[one].name}</strong> <span className="dim">{t.templates[one].about}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {error !== undefined && <ProblemAlert error={error} />}
        <div>
          <Button type="submit">{t.write}</Button>
        </div>
      </form>
    </SidePanel>
  );
}
