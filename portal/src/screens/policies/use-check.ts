/** After each pause of typing: does the draft compile, do its cases pass, what does it answer, and which lines does that reach. */
import { useEffect, useRef, useState } from 'react';
import { segment, type TenantApi } from '../../core/api.ts';
import { ApiProblem, NoAnswer } from '../../core/problem.ts';
import { useTenant } from '../../core/session.ts';
import { useIsMember } from '../../core/session-end.ts';
import type { LineProblem } from '../../editor/code-editor.tsx';
import { ordered } from './same.ts';
import { bodyOf, type Case, type Draft, type DrawnRego, type Expected, sourceOf, type Tried } from './shapes.ts';

const pauseMs = 300;
/** A server that is away is asked again until it is back. */
const awayMs = 3000;
const busyTries = 4;

export type Checked = {
  isChecking: boolean;
  /** What the compiler says, where it says a line. */
  problems: readonly LineProblem[];
  /** Another refusal of the draft. */
  error?: unknown;
  notes: readonly string[];
  /** Cases that fail, by index, with what they answered; undefined where they were not run. */
  failed?: ReadonlyMap<number, string>;
  tried?: Tried;
  /** Why the question has no answer. */
  tryError?: unknown;
  /** What the drawing becomes; while it has errors, what it became before them. */
  drawn?: DrawnRego & { isOld?: true };
};
const nothing: Checked = { isChecking: false, problems: [], notes: [] };

type Asked = {
  name: string;
  draft: Draft;
  /** undefined: the question is not complete. */
  input: Record<string, unknown> | undefined;
  /** A dry run of a policy that a manifest owns is refused: the compiler is asked by the question alone. */
  canDryRun: boolean;
  /** The role may not test. */
  isOff: boolean;
};

export function useCheck(asked: Asked): Checked {
  const { api } = useTenant();
  const isMember = useIsMember();
  const [checked, setChecked] = useState<Checked>({ ...nothing, isChecking: !asked.isOff });
  const latest = useRef(asked);
  latest.current = asked;
  const key = JSON.stringify([asked.name, asked.draft, asked.input, asked.canDryRun, asked.isOff]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: key has what is asked
  useEffect(() => {
    if (latest.current.isOff) return;
    const stop = new AbortController();
    setChecked((before) => ({ ...before, isChecking: true }));
    const again = async () => {
      const found: Checked = await check(api, latest.current, stop.signal).catch((error) => ({ ...nothing, error }));
      if (stop.signal.aborted) return;
      setChecked((before) => ({ ...found, ...drawnOf(before, found) }));
      if ((found.error ?? found.tryError) instanceof NoAnswer) timer = setTimeout(again, awayMs);
    };
    let timer = setTimeout(again, pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [api, key]);
  // An answer tells of records.
  const { tried, ...others } = checked;
  return isMember ? checked : others;
}

function drawnOf({ drawn: before }: Checked, { drawn, tried }: Checked): Pick<Checked, 'drawn'> {
  const { effectiveRego, nodeLines } = tried ?? drawn ?? {};
  if (effectiveRego !== undefined) return { drawn: { effectiveRego, ...(nodeLines && { nodeLines }) } };
  return before ? { drawn: { ...before, isOld: true } } : {};
}

async function check(api: TenantApi, asked: Asked, signal: AbortSignal): Promise<Checked> {
  const path = `/policies/${segment(asked.name)}`;
  const compiled = asked.canDryRun ? await dryRun(api, path, asked.draft, signal) : nothing;
  if (compiled.problems.length > 0 || compiled.error !== undefined) return compiled;
  if (asked.input === undefined) return { ...compiled, ...(await rendered(api, path, asked.draft, signal)) };
  try {
    const tried = await ask(api, path, asked.draft, asked.input, signal);
    if (asked.canDryRun) return { ...compiled, tried };
    return { ...compiled, tried, failed: await runCases(api, path, asked.draft, signal) };
  } catch (error) {
    if (!asked.canDryRun && error instanceof ApiProblem && error.status === 400) return { ...compiled, ...said(error) };
    return { ...compiled, tryError: error };
  }
}

/** What a drawing becomes, while the question is not complete: it does not depend on it. */
async function rendered(api: TenantApi, path: string, draft: Draft, signal: AbortSignal) {
  if (draft.graph === undefined) return {};
  try {
    const { effectiveRego = '', nodeLines } = await ask(api, path, { ...draft, tests: [] }, {}, signal);
    return { drawn: { effectiveRego, ...(nodeLines && { nodeLines }) } };
  } catch {
    return {}; // what it became before is shown as such
  }
}

async function dryRun(api: TenantApi, path: string, draft: Draft, signal: AbortSignal): Promise<Checked> {
  const options = { body: bodyOf(draft), query: { dryRun: true }, signal };
  try {
    const { data } = await unlessBusy(() => api.put<{ notes?: string[] }>(path, options), signal);
    return { ...nothing, notes: data.notes ?? [], failed: new Map() };
  } catch (error) {
    if (error instanceof ApiProblem && error.code === 'policy_tests_failed') {
      const failed = error.places.map(({ pointer, detail }) => [Number(pointer.split('/')[2]), detail] as const);
      return { ...nothing, failed: new Map(failed) };
    }
    return { ...nothing, ...said(error) };
  }
}

export function said(error: unknown): Pick<Checked, 'problems' | 'error'> {
  const places = error instanceof ApiProblem ? error.places : [];
  const problems = places.flatMap(({ line, column, detail }) =>
    // The lines after the first repeat the source with a caret below it: the editor shows both better.
    line === undefined ? [] : [{ line, detail: detail.split('\n')[0] ?? '', ...(column !== undefined && { column }) }],
  );
  return problems.length > 0 ? { problems } : { problems, error };
}

async function ask(
  api: TenantApi,
  path: string,
  draft: Draft,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Tried> {
  const body = { ...sourceOf(draft), input };
  const post = (more: object) =>
    unlessBusy(() => api.post<Tried>(`${path}/test`, { body: { ...body, ...more }, signal }), signal);
  try {
    return (await post({ coverage: true, tests: draft.tests })).data;
  } catch (error) {
    // Too large to be traced: it answers all the same.
    if (!(error instanceof ApiProblem && error.code === 'policy_not_traceable')) throw error;
    return (await post({})).data;
  }
}

/** One by one, where no dry run does it. */
async function runCases(api: TenantApi, path: string, draft: Draft, signal: AbortSignal) {
  const failed = new Map<number, string>();
  for (const [index, { input, expect }] of draft.tests.entries()) {
    const body = { ...sourceOf(draft), input };
    const { data } = await unlessBusy(() => api.post<Tried>(`${path}/test`, { body, signal }), signal);
    const unmet = unmetOf(data, expect);
    if (unmet !== undefined) failed.set(index, unmet);
  }
  return failed;
}

/** What a case expects once the answer of the draft is accepted: the members that it names, as they are now. */
export async function answerFor(api: TenantApi, name: string, draft: Draft, one: Case, signal: AbortSignal) {
  const body = { ...sourceOf(draft), input: one.input };
  const { data } = await unlessBusy(() => api.post<Tried>(`/policies/${segment(name)}/test`, { body, signal }), signal);
  const members = (['outcome', 'reason', 'obligations'] as const).filter((member) => member in one.expect);
  return Object.fromEntries(
    members.filter((member) => data[member] !== undefined).map((member) => [member, data[member]]),
  );
}

/** As the server compares and says it: only what the case names. */
function unmetOf(answer: Tried, expect: Expected): string | undefined {
  for (const member of ['outcome', 'reason', 'obligations'] as const) {
    if (!(member in expect)) continue;
    const [got, wanted] = [answer[member], expect[member]].map((value) =>
      ordered(member === 'obligations' ? [...((value ?? []) as string[])].sort() : value),
    );
    if (got !== wanted) return `${member} is ${got}, expected ${wanted}`;
  }
  return undefined;
}

/** The compiler and the evaluator are shared: when they are busy, this waits for its turn. */
export async function unlessBusy<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await work();
    } catch (error) {
      const isBusy = error instanceof ApiProblem && (error.status === 429 || error.code === 'compiler_busy');
      if (!isBusy || tries === busyTries || signal.aborted) throw error;
      await new Promise((resolve) => setTimeout(resolve, 1000 * (error.retryAfterSeconds ?? tries)));
    }
}
