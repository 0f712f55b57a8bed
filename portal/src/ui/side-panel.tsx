/** The panel beside a list, which stays in view: <WithPanel panel={open && <SidePanel …>}>list</WithPanel>. */
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Confirm } from './confirm.tsx';
import { Icon } from './icons.tsx';
import { useUiTexts } from './texts.ts';

type Props = {
  title: ReactNode;
  label: string;
  onClose: () => void;
  /** What Escape does: `asks` first where something was typed, `closes` where that is kept, `stays` where something is shown once. */
  onEscape?: 'asks' | 'closes' | 'stays';
  /** Work is under way that closing would leave without an answer: what stops it is in the panel. */
  isBusy?: boolean;
  children: ReactNode;
};

/** An open menu, dialog or list of completions inside the panel closes by Escape itself. */
const isOfPart = ({ target, currentTarget }: KeyboardEvent<HTMLElement>) => {
  const part = (target as Element).closest('dialog, [role="menu"], [role="listbox"]');
  return part !== null && currentTarget.contains(part);
};

export function SidePanel({ title, label, onClose, onEscape = 'asks', isBusy = false, children }: Props) {
  const texts = useUiTexts();
  const isTyped = useRef(false);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus(), []);
  const [isAsking, setAsking] = useState(false);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== 'Escape' || event.defaultPrevented || isOfPart(event) || isBusy || onEscape === 'stays') return;
    event.preventDefault();
    if (onEscape === 'asks' && isTyped.current) setAsking(true);
    else onClose();
  };
  return (
    <aside
      ref={panel}
      className="panel card"
      aria-label={label}
      onKeyDown={onKeyDown}
      onInput={() => {
        isTyped.current = true;
      }}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" className="plain" aria-label={texts.close} disabled={isBusy} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      {children}
      {isAsking && (
        <Confirm
          title={texts.closeTyped}
          consequences={[texts.closeTypedWhat]}
          action={texts.close}
          onClose={() => setAsking(false)}
          onConfirm={async () => onClose()}
        />
      )}
    </aside>
  );
}

export const WithPanel = ({ panel, children }: { panel?: ReactNode; children: ReactNode }) => (
  <div className={panel ? 'with-panel open' : 'with-panel'}>
    <div className="stack">{children}</div>
    {panel}
  </div>
);
