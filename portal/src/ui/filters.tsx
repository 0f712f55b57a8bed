/** Filters as chips; their values stand in the address (useFilters of core/address.ts). */
import { type ReactNode, useEffect, useState } from 'react';
import { Icon } from './icons.tsx';
import { useUiTexts } from './texts.ts';

export const Filters = ({ children, onClear }: { children: ReactNode; onClear?: () => void }) => {
  const texts = useUiTexts();
  return (
    <search className="chips">
      {children}
      {onClear && (
        <button type="button" className="plain chip" onClick={onClear}>
          <Icon name="close" size={12} /> {texts.clearFilters}
        </button>
      )}
    </search>
  );
};

type Choice = {
  label: string;
  value?: string;
  options: readonly { value: string; label: string }[];
  onChange: (value?: string) => void;
};

export function ChoiceFilter({ label, value, options, onChange }: Choice) {
  const texts = useUiTexts();
  return (
    <label className={value ? 'chip on' : 'chip'}>
      {label}
      <select value={value ?? ''} onChange={(event) => onChange(event.currentTarget.value || undefined)}>
        <option value="">{texts.all}</option>
        {options.map((one) => (
          <option key={one.value} value={one.value}>
            {one.label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Text that is taken over after a pause, on Enter, and on leaving. */
export function TextFilter({
  label,
  value = '',
  onChange,
}: {
  label: string;
  value?: string;
  onChange: (value?: string) => void;
}) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is typed starts the pause
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text || undefined), 400);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <label className={value ? 'chip on' : 'chip'}>
      {label}
      <input
        type="search"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onBlur={() => text !== value && onChange(text || undefined)}
        onKeyDown={(event) => event.key === 'Enter' && onChange(text || undefined)}
      />
    </label>
  );
}
