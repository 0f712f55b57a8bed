/** The languages of a mail: which there are, which the tenant changed, and which are missing. */
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useGo } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { useHasDraft } from '../../core/drafts.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Link, State } from '../../ui/index.ts';
import { texts } from './texts.ts';

export type Listed = { name: string; language: string; builtIn: boolean };

export function useTemplates() {
  const { tenant, api } = useTenant();
  return useQuery({
    queryKey: ['templates', tenant.code],
    queryFn: ({ signal }) => api.get<{ templates: Listed[] }>('/mail/templates', { signal }),
  });
}

export const pathOf = ({ name, language }: { name: string; language: string }) =>
  `/activity/templates/${segment(name)}/${segment(language)}`;
export const draftKeyOf = (tenant: string, { name, language }: { name: string; language: string }) =>
  `${tenant}/template/${name}/${language}`;

/** In whose text a language that is missing begins: its less specific one, or else English, or what there is. */
export function nearest(all: readonly Listed[], name: string, language: string): Listed | undefined {
  const there = all.filter((one) => one.name === name);
  const in_ = (tag: string) => there.find((one) => one.language.toLowerCase() === tag.toLowerCase());
  return in_(language.split('-', 1)[0] as string) ?? in_('en') ?? there[0];
}

export function TemplateLanguages({ name, language }: { name: string; language: string }) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const all = useTemplates().data?.data.templates ?? [];
  // Those of its other mails are languages of the tenant, too.
  const languages = [...new Set([...all.map((one) => one.language), language])].sort();
  return (
    <nav className="template-languages" aria-label={t.languages}>
      {languages.map((one) => (
        <OneLanguage
          key={one}
          of={{ name, language: one }}
          isShown={one === language}
          listed={all.find((each) => each.name === name && each.language === one)}
        />
      ))}
      {mayDo(tenant.role, 'edit') && <AnotherLanguage name={name} />}
    </nav>
  );
}

type OneProps = { of: { name: string; language: string }; isShown: boolean; listed: Listed | undefined };

function OneLanguage({ of, isShown, listed }: OneProps) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const hasDraft = useHasDraft(draftKeyOf(tenant.code, of));
  return (
    <Link to={pathOf(of)}>
      {of.language}{' '}
      {listed === undefined ? (
        <State tone="warn">{t.missing}</State>
      ) : (
        !listed.builtIn && <State tone="accent">{t.own}</State>
      )}
      {hasDraft && !isShown && <State tone="none">{t.draft}</State>}
    </Link>
  );
}

/** The server says what a tag of a language is. */
function AnotherLanguage({ name }: { name: string }) {
  const t = useTexts(texts);
  const go = useGo();
  const [tag, setTag] = useState<string>();
  const add = (event: FormEvent) => {
    event.preventDefault();
    const language = (tag ?? '').trim();
    if (language === '') return;
    setTag(undefined);
    go(pathOf({ name, language }));
  };
  if (tag === undefined)
    return (
      <Button variant="default" size="compact-sm" onClick={() => setTag('')}>
        {t.addLanguage}
      </Button>
    );
  return (
    <form className="row" onSubmit={add}>
      <TextInput
        aria-label={t.languageTag}
        placeholder="de"
        size="xs"
        autoFocus
        autoComplete="off"
        value={tag}
        onChange={(event) => setTag(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && setTag(undefined)}
      />
      <Button type="submit" variant="default" size="compact-sm">
        {t.addLanguage}
      </Button>
    </form>
  );
}
