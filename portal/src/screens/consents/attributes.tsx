/** Custom attributes that the Tenant declares, as JSON: the portal does not know them, the server refuses wrong ones by name. */
import { Textarea } from '@mantine/core';
import { useState } from 'react';
import { useTexts } from '../../core/texts.ts';
import { texts } from './texts.ts';

export function useAttributes(first: Record<string, unknown> = {}) {
  const [text, setText] = useState(Object.keys(first).length === 0 ? '' : JSON.stringify(first));
  const value = parsed(text);
  return { text, setText, value: value ?? {}, isWrong: value === undefined };
}

function parsed(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

export function AttributesInput({ attributes }: { attributes: ReturnType<typeof useAttributes> }) {
  const t = useTexts(texts);
  const { text, setText, isWrong } = attributes;
  return (
    <details open={text !== ''}>
      <summary>{t.attributes}</summary>
      <Textarea
        label={t.attributesJson}
        description={t.attributesRule}
        autosize={false}
        rows={3}
        value={text}
        error={isWrong ? t.noJson : undefined}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </details>
  );
}
