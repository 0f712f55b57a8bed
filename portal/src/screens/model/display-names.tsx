/** What users read in place of the names of types: choosing it by language, and the fields that set it. */
import { useMemo } from 'react';
import { type Language, useLanguage, useTexts } from '../../core/texts.ts';
import { Icon } from '../../ui/index.ts';
import { type DisplayName, type Model, partsOf, words } from './shapes.ts';
import { texts } from './texts.ts';

/** In the language, or else in English, or else any. */
function nameIn(names: readonly DisplayName[] | undefined, language: Language): string | undefined {
  const of = (wanted: string) => names?.find((one) => one.language.toLowerCase().split('-', 1)[0] === wanted);
  return (of(language) ?? of('en') ?? names?.[0])?.name;
}

/** What people read for a type, or for a relationship type (From:relationship:To). */
export type Names = (name: string) => string;

export function useNames(model: Model | undefined): Names {
  const { language } = useLanguage();
  return useMemo(() => {
    const all = [...(model?.types ?? []), ...(model?.relationships ?? [])];
    const shown = new Map(all.map(({ spec }) => [spec.name, nameIn(spec.displayNames, language)]));
    return (name) => shown.get(name) ?? words(partsOf(name).relation || name);
  }, [model, language]);
}

/** The display name with the name of the API below it, where it differs. */
export function Named({ name, names }: { name: string; names: Names }) {
  const shown = names(name);
  const isRaw = shown === name || shown === words(partsOf(name).relation);
  return isRaw ? (
    <span className="mono">{name}</span>
  ) : (
    <>
      {shown} <span className="mono dim">{name}</span>
    </>
  );
}

export type NameRow = DisplayName & { key: number };
let keys = 0;
export const nameRowsOf = (names: readonly DisplayName[] = []): NameRow[] =>
  names.map((one) => ({ ...one, key: keys++ }));
/** The field of a body; nothing where there are none. */
export const displayNamesIn = (rows: readonly NameRow[]): { displayNames?: DisplayName[] } =>
  rows.length === 0 ? {} : { displayNames: rows.map(({ language, name }) => ({ language, name })) };

type Props = { rows: readonly NameRow[]; onChange: (to: NameRow[]) => void };

export function DisplayNameFields({ rows, onChange }: Props) {
  const t = useTexts(texts);
  const change = (key: number, to: Partial<DisplayName>) =>
    onChange(rows.map((row) => (row.key === key ? { ...row, ...to } : row)));
  const next = ['en', 'nl', 'fr'].find((one) => !rows.some(({ language }) => language === one)) ?? '';
  return (
    <fieldset>
      <legend>{t.displayNames}</legend>
      <small className="dim">{t.displayNamesAbout}</small>
      {rows.map(({ key, language, name }) => (
        <div key={key} className="model-row">
          <label className="field">
            {t.displayName}
            <input required value={name} onChange={(event) => change(key, { name: event.currentTarget.value })} />
          </label>
          <label className="field">
            {t.nameLanguage}
            <input
              required
              value={language}
              onChange={(event) => change(key, { language: event.currentTarget.value })}
            />
          </label>
          <span />
          <button
            type="button"
            className="plain chip"
            aria-label={t.removeDisplayName(language)}
            onClick={() => onChange(rows.filter((row) => row.key !== key))}
          >
            <Icon name="trash" />
          </button>
        </div>
      ))}
      <div>
        <button
          type="button"
          className="plain chip"
          onClick={() => onChange([...rows, { key: keys++, language: next, name: '' }])}
        >
          <Icon name="plus" /> {t.addDisplayName}
        </button>
      </div>
    </fieldset>
  );
}
