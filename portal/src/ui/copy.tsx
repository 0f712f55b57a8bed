/** Ids in mono, cut in their middle, copied by a click. */

import { Icon } from './icons.tsx';
import { uiTexts, useUiTexts } from './texts.ts';
import { toast } from './toasts.tsx';

export async function copyText(text: string, texts = uiTexts.en): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast({ text: texts.copied });
  } catch {
    toast({ text: texts.notCopied });
  }
}

export const middleCut = (id: string, max = 20) =>
  id.length <= max ? id : `${id.slice(0, Math.ceil(max / 2) - 1)}…${id.slice(-(Math.floor(max / 2) - 1))}`;

export function CopyId({ id, max = 20 }: { id: string; max?: number }) {
  const texts = useUiTexts();
  return (
    <button
      type="button"
      className="plain id"
      title={id}
      aria-label={texts.copyThis(id)}
      onClick={(event) => {
        event.stopPropagation();
        void copyText(id, texts);
      }}
    >
      <span className="mono">{middleCut(id, max)}</span>
      <Icon name="copy" size={12} />
    </button>
  );
}
