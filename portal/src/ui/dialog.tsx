/** A modal dialog of the browser: it holds the focus, closes by Escape, and gives the focus back. */
import { type ReactNode, useEffect, useRef } from 'react';
import { Icon } from './icons.tsx';
import { useUiTexts } from './texts.ts';

type Props = { label: string; className?: string; onClose: () => void; children: ReactNode };

export function Dialog({ label, className = '', onClose, children }: Props) {
  const texts = useUiTexts();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opened = dialog.current;
    const before = document.activeElement as HTMLElement | null;
    if (opened && !opened.open) opened.showModal();
    return () => {
      opened?.close();
      before?.focus?.();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, too
    <dialog
      ref={dialog}
      className={`sheet ${className}`}
      aria-label={label}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      {children}
      {className !== 'palette' && (
        <button type="button" className="plain dialog-close" aria-label={texts.dismiss} onClick={onClose}>
          <Icon name="close" />
        </button>
      )}
    </dialog>
  );
}
