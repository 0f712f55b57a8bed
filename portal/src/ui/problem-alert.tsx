/** An error: what happened, what was kept, what to do. */
import { Button } from '@mantine/core';
import { ApiProblem, BrokenOff, isConflict, NoAnswer } from '../core/problem.ts';
import { CopyId } from './copy.tsx';
import { Icon } from './icons.tsx';
import type { UiTexts } from './texts.en.ts';
import { useUiTexts } from './texts.ts';

function said(error: unknown, texts: UiTexts): { title: string; detail?: string } {
  if (error instanceof NoAnswer) return { title: texts.problemNoAnswer, detail: texts.problemNoAnswerWhy };
  if (error instanceof BrokenOff) return { title: texts.problemBrokenOff, detail: texts.problemBrokenOffWhy };
  if (isConflict(error)) return { title: texts.problemConflict, detail: texts.problemConflictWhy };
  if (!(error instanceof ApiProblem)) return { title: texts.problemUnknown, detail: String(error) };
  return error.message === error.title ? { title: error.title } : { title: error.title, detail: error.message };
}

export function ProblemAlert({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const texts = useUiTexts();
  if (error === undefined || error === null) return null;
  const { title, detail } = said(error, texts);
  const problem = error instanceof ApiProblem ? error : undefined;
  return (
    <div className="notice bad" role="alert">
      <Icon name="error" />
      <div>
        <strong>{title}</strong>
        {problem && problem.places.length > 0 ? (
          <ul>
            {problem.places.map((place) => (
              <li key={`${place.pointer} ${place.line} ${place.detail}`}>
                <code>{place.pointer}</code> {place.line !== undefined && `${texts.line(place.line)}: `}
                {place.detail}
              </li>
            ))}
          </ul>
        ) : (
          detail !== undefined && <p>{detail}</p>
        )}
        {problem?.retryAfterSeconds !== undefined && <p>{texts.retryAfter(problem.retryAfterSeconds)}</p>}
        {problem?.requestId !== undefined && (
          <p className="dim">
            {texts.requestId} <CopyId id={problem.requestId} /> <code>{problem.code}</code>
          </p>
        )}
        {onRetry && (
          <p>
            <Button variant="default" mt={8} onClick={onRetry}>
              {texts.retry}
            </Button>
          </p>
        )}
      </div>
    </div>
  );
}
