/** Asks before something is done that cannot be undone: it names the thing and what will follow, with numbers. */
import { Button, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Dialog } from './dialog.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import { useUiTexts } from './texts.ts';

type Props = {
  /** "End the relationship of alice to car-7?" */
  title: string;
  /** Sentences with numbers: "Revokes 3 relationships made by this invitation." */
  consequences: readonly ReactNode[];
  /** The verb on the button: "End the relationship". */
  action: string;
  /** What has to be typed first, for what touches many or cannot be repaired. */
  typed?: string;
  /** Closes when it is done; a rejection is shown in place. */
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
};

export function Confirm({ title, consequences, action, typed, onConfirm, onClose }: Props) {
  const texts = useUiTexts();
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  return (
    // What is under way is answered here: closed, a refusal would be lost.
    <Dialog label={title} onClose={() => isBusy || onClose()}>
      <div className="stack">
        <h2>{title}</h2>
        <ul>
          {consequences.map((one, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: sentences that do not move
            <li key={index}>{one}</li>
          ))}
        </ul>
        {typed !== undefined && (
          <TextInput label={texts.typeToConfirm(typed)} value={text} onChange={(e) => setText(e.currentTarget.value)} />
        )}
        {error !== undefined && <ProblemAlert error={error} />}
      </div>
      <div className="actions">
        <Button variant="default" disabled={isBusy} onClick={onClose}>
          {texts.cancel}
        </Button>
        <Button color="red.9" disabled={typed !== undefined && text !== typed} loading={isBusy} onClick={confirm}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}
