/** Fields of the forms. What is typed and is no value yet stays in the field. */
import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import { useEffect, useId, useState } from 'react';

type Common = { label: string; readOnly: boolean; about?: string | undefined; error?: string | undefined };

const shown = ({ label, about, error }: Common) => ({
  label,
  ...(about !== undefined && { description: about }),
  ...(error !== undefined && { error }),
});

type TextProps = Common & {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  names?: readonly string[];
  placeholder?: string;
};

/** An empty one is absent. */
export function TextField({ value = '', onChange, names = [], placeholder, ...common }: TextProps) {
  const id = useId();
  return (
    <>
      <TextInput
        {...{ ...shown(common), value, readOnly: common.readOnly, autoComplete: 'off' }}
        {...(names.length > 0 && { list: id })}
        {...(placeholder !== undefined && { placeholder })}
        onChange={(event) => onChange(event.currentTarget.value || undefined)}
      />
      {names.length > 0 && (
        <datalist id={id}>
          {names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </>
  );
}

type ChoiceProps<T extends string> = Common & {
  value: T;
  choices: { [K in T]: string } | readonly (readonly [T, string])[];
  onChange: (value: T) => void;
};

export function ChoiceField<T extends string>({ value, choices, onChange, ...common }: ChoiceProps<T>) {
  const pairs = Array.isArray(choices) ? choices : Object.entries<string>(choices as { [K in T]: string });
  return (
    <NativeSelect
      {...{ ...shown(common), value, disabled: common.readOnly }}
      data={pairs.map(([one, label]) => ({ value: one, label }))}
      onChange={(event) => onChange(event.currentTarget.value as T)}
    />
  );
}

/** The text of a field whose value is another thing: it follows the value when that changes by other means, such as undo. */
function useTyped<T>(value: T, show: (value: T) => string, read: (text: string) => T) {
  const [text, setText] = useState(() => show(value));
  const key = JSON.stringify(value);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the value changes
  useEffect(() => {
    setText((before) => (JSON.stringify(read(before)) === key ? before : show(value)));
  }, [key]);
  return [text, setText] as const;
}

type LinesProps<T> = Common & {
  values: readonly T[] | undefined;
  onChange: (values: T[] | undefined) => void;
  show?: (value: T) => string;
  read?: (line: string) => T;
};

const itself = (value: unknown) => value as never;

/** A list, one on each line. */
export function LinesField<T>({ values, onChange, show = itself, read = itself, ...common }: LinesProps<T>) {
  const parse = (text: string) => {
    const lines = text.split('\n').map((line) => line.trim());
    const list = lines.filter((line) => line !== '').map(read);
    return list.length > 0 ? list : undefined;
  };
  const [text, setText] = useTyped<readonly T[] | undefined>(values, (list = []) => list.map(show).join('\n'), parse);
  return (
    <Textarea
      {...{ ...shown(common), value: text, readOnly: common.readOnly, rows: 3 }}
      onChange={(event) => {
        setText(event.currentTarget.value);
        onChange(parse(event.currentTarget.value));
      }}
    />
  );
}

type NumberProps = Common & { value: number; onChange: (value: number) => void; wrong: string };

export function NumberField({ value, onChange, wrong, ...common }: NumberProps) {
  const read = (text: string) => (text.trim() === '' ? Number.NaN : Number(text));
  const [text, setText] = useTyped(value, String, read);
  const error = Number.isFinite(read(text)) ? common.error : wrong;
  return (
    <TextInput
      {...{ ...shown({ ...common, error }), value: text, readOnly: common.readOnly, inputMode: 'decimal' }}
      onChange={(event) => {
        setText(event.currentTarget.value);
        const number = read(event.currentTarget.value);
        if (Number.isFinite(number)) onChange(number);
      }}
    />
  );
}

/** A value of a list as a line, and back: what reads as a number or a truth value in quotation marks is a text. */
export const showValue = (value: unknown) =>
  typeof value === 'string' && typeof readValue(value) === 'string' && !value.startsWith('"')
    ? value
    : JSON.stringify(value);

export function readValue(line: string): unknown {
  if (!/^(true|false|".*"|-?\d.*)$/.test(line)) return line;
  try {
    const value: unknown = JSON.parse(line);
    return ['string', 'number', 'boolean'].includes(typeof value) ? value : line;
  } catch {
    return line;
  }
}
