/** Laying the Rego out. What is typed meanwhile stays as it is typed. */
import { useRef, useState } from 'react';
import { ApiProblem } from '../../core/problem.ts';
import { useTenant } from '../../core/session.ts';
import { useStop } from '../../core/stop.ts';
import { said, unlessBusy } from './use-check.ts';
import type { Editing } from './use-editing.ts';

type Refused = { rego: string } & ReturnType<typeof said>;
export type Formatting = {
  format: () => void;
  isBusy: boolean;
  /** Why this text, and no other one, was not formatted. */
  refused?: ReturnType<typeof said>;
};

export function useFormat({ draft, change }: Editing): Formatting {
  const { api } = useTenant();
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Refused>();
  const rego = draft.rego ?? '';
  const now = useRef({ rego, change });
  now.current = { rego, change };
  const stop = useStop();
  const format = async () => {
    if (isBusy) return;
    const signal = stop();
    setBusy(true);
    setRefused(undefined);
    try {
      const ask = () => api.post<{ rego: string }>('/policy-format', { body: { rego }, signal });
      const { data } = await unlessBusy(ask, signal);
      if (!signal.aborted && now.current.rego === rego) now.current.change({ rego: data.rego });
    } catch (error) {
      if (signal.aborted) return;
      setRefused({ rego, ...(error instanceof ApiProblem ? said(error) : { problems: [], error }) });
    }
    setBusy(false);
  };
  return { format: () => void format(), isBusy, ...(refused?.rego === rego && { refused }) };
}
