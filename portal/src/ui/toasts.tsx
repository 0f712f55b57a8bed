/** Short words on what was done, with undo where there is one. */
import { useEffect, useSyncExternalStore } from 'react';
import { Icon } from './icons.tsx';
import { useUiTexts } from './texts.ts';

type Toast = { text: string; undo?: () => void; id: number };
let shown: readonly Toast[] = [];
let count = 0;
const listeners = new Set<() => void>();
function change(next: readonly Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}
const remove = (id: number) => change(shown.filter((one) => one.id !== id));

/** @param undo shown as a button for eight seconds; other toasts stay for four */
export function toast(said: { text: string; undo?: () => void }): void {
  change([...shown.slice(-3), { ...said, id: count++ }]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

function OneToast({ toast: { id, text, undo } }: { toast: Toast }) {
  const texts = useUiTexts();
  useEffect(() => {
    const timer = setTimeout(() => remove(id), undo ? 8_000 : 4_000);
    return () => clearTimeout(timer);
  }, [id, undo]);
  return (
    <div className="toast">
      <span className="grow">{text}</span>
      {undo && (
        <button
          type="button"
          className="plain chip"
          onClick={() => {
            remove(id);
            undo();
          }}
        >
          <Icon name="undo" /> {texts.undo}
        </button>
      )}
      <button type="button" className="plain" aria-label={texts.dismiss} onClick={() => remove(id)}>
        <Icon name="close" />
      </button>
    </div>
  );
}

export function Toasts() {
  const all = useSyncExternalStore(subscribe, () => shown);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {all.map((one) => (
        <OneToast key={one.id} toast={one} />
      ))}
    </div>
  );
}
