/** Long work: how much is done, how fast, how long it will take, and how to stop it. */
import { Button } from '@mantine/core';
import { useRef } from 'react';
import { useLanguage } from '../core/texts.ts';
import { useUiTexts } from './texts.ts';

type Props = { label: string; done: number; total?: number; onCancel?: () => void };

export function Progress({ label, done, total, onCancel }: Props) {
  const texts = useUiTexts();
  const { language } = useLanguage();
  const began = useRef({ at: performance.now(), done });
  const seconds = (performance.now() - began.current.at) / 1000;
  const rate = seconds < 1 ? undefined : (done - began.current.done) / seconds;
  const left = rate && total !== undefined ? Math.max(0, Math.ceil((total - done) / rate)) : undefined;
  const figures = [
    total === undefined
      ? done.toLocaleString(language)
      : texts.progressOf(done.toLocaleString(language), total.toLocaleString(language)),
    rate !== undefined && rate > 0 && texts.progressRate(Math.round(rate).toLocaleString(language)),
    left !== undefined && texts.progressLeft(left < 90 ? texts.seconds(left) : texts.minutes(Math.round(left / 60))),
  ];
  return (
    <div className="progress card">
      <strong>{label}</strong>
      <progress aria-label={label} max={total} value={total === undefined ? undefined : done} />
      <div className="row">
        <span className="dim" role="status">
          {figures.filter(Boolean).join(' · ')}
        </span>
        {onCancel && (
          <Button variant="default" onClick={onCancel}>
            {texts.cancel}
          </Button>
        )}
      </div>
    </div>
  );
}
