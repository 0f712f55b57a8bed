/** What makes something is sent again with the same Idempotency-Key while nobody knows whether it was done. */
import { useRef } from 'react';
import { ApiProblem } from './problem.ts';

/** Whether the server said what became of it. */
const isAnswered = (error: unknown) =>
  error instanceof ApiProblem && error.status < 500 && error.code !== 'idempotency_key_in_use';

export function useOnce() {
  const last = useRef<{ text: string; key: string }>(undefined);
  /** @param body another one has another key */
  return async <T>(body: unknown, send: (idempotencyKey: string) => Promise<T>): Promise<T> => {
    const text = JSON.stringify(body);
    if (last.current?.text !== text) last.current = { text, key: crypto.randomUUID() };
    try {
      const answer = await send(last.current.key);
      last.current = undefined;
      return answer;
    } catch (error) {
      if (isAnswered(error)) last.current = undefined;
      throw error;
    }
  };
}
