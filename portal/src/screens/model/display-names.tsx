/** The fields that set what users read in place of the names of types. */
import { useTexts } from '../../core/texts.ts';
import type { DisplayName } from '../../model/shapes.ts';
import { Icon } from '../../ui/index.ts';
import { texts } from './texts.ts';

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
