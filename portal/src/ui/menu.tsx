/** A button that opens a menu: arrows move, Enter chooses, Escape and a click elsewhere close it. */
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';

type Props = { button: ReactNode; label: string; className?: string; start?: boolean; children: ReactNode };

export function Menu({ button, label, className = 'plain', start = false, children }: Props) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    items(box.current)[0]?.focus();
    const elsewhere = (event: PointerEvent) => {
      if (!box.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', elsewhere);
    return () => removeEventListener('pointerdown', elsewhere);
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    box.current?.querySelector('button')?.focus();
  };
  return (
    <div className="menu-box" ref={box}>
      <button
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        <div
          role="menu"
          tabIndex={-1}
          aria-label={label}
          className={start ? 'menu start' : 'menu'}
          onClick={close}
          onKeyDown={(event) => moveOrClose(event, box.current, close)}
        >
          {children}
        </div>
      )}
    </div>
  );
}

const items = (box: HTMLElement | null) => [...(box?.querySelectorAll<HTMLElement>('.menu button, .menu a') ?? [])];

function moveOrClose(event: KeyboardEvent, box: HTMLElement | null, close: () => void): void {
  if (event.key === 'Escape' || event.key === 'Tab') {
    if (event.key === 'Escape') event.preventDefault();
    close();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const all = items(box);
  all[(all.indexOf(document.activeElement as HTMLElement) + step + all.length) % all.length]?.focus();
}

type Item = { children: ReactNode; onChoose?: () => void; href?: string; checked?: boolean };

export function MenuItem({ children, onChoose, href, checked }: Item) {
  if (href !== undefined)
    return (
      <a role="menuitem" href={href}>
        {children}
      </a>
    );
  const role = checked === undefined ? { role: 'menuitem' } : { role: 'menuitemradio', 'aria-checked': checked };
  return (
    <button type="button" className="plain" {...role} onClick={onChoose}>
      {children}
    </button>
  );
}
