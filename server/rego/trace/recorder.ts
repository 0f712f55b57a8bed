/**
 * What a traced evaluation remembers: of each call of a function and of each definition in it the furthest statement
 * that did not hold, with the values that it looked at; which definitions held; and which statements were reached. Values
 * are remembered as they are, not copied. It takes no fuel: a traced evaluation ends as an untraced one does.
 */
import { limits } from '../../core/limits.ts';
import { Machine, type Memo } from '../plan/machine.ts';
import type { PlanValue } from '../plan/values.ts';

type Maybe = PlanValue | undefined;

export type Failure = {
  /** The statement's. */
  readonly number: number;
  readonly rank: number;
  readonly values: readonly Maybe[];
  /** The last calls of the functions that the condition calls. */
  readonly calls: readonly Frame[];
  /** What was the furthest before, for conditions that are made of others. */
  readonly before: Failure | undefined;
};

/** A call of a function. */
export class Frame {
  readonly of: number;
  /** By definition. */
  readonly failed: (Failure | undefined)[] = [];
  readonly held = new Map<number, Maybe>();
  /** By definition, the items of the loops around what gives its value, of the first times that it held. */
  readonly heldFor = new Map<number, (readonly Maybe[])[]>();
  /** By the number of an `every`, what had failed before its item. */
  readonly items = new Map<number, Failure | undefined>();

  constructor(of: number) {
    this.of = of;
  }
}

/** What is known beforehand of each statement, by its number. */
export type Watched = {
  readonly rank: number;
  readonly definition: number;
  /** Functions that the condition calls. */
  readonly calls: readonly number[];
};

export class Recorder {
  /** 1 for each statement that was reached. */
  readonly reached: Uint8Array;
  /** The last call of each function. */
  readonly last: (Frame | undefined)[] = [];
  /** Whether there were more calls than are remembered. */
  truncated = false;
  frame: Frame | undefined = new Frame(-1);
  readonly watched: readonly Watched[];
  #frames = 0;

  constructor(watched: readonly Watched[]) {
    this.watched = watched;
    this.reached = new Uint8Array(watched.length);
  }

  begin(of: number): Frame | undefined {
    if (this.#frames++ < limits.traceCallsMax) return new Frame(of);
    this.truncated = true;
    return undefined;
  }
}

export class TracingMachine extends Machine {
  readonly recorder: Recorder;

  constructor(fuel: number, now: bigint, memo: Memo, recorder: Recorder) {
    super(fuel, now, memo);
    this.recorder = recorder;
  }
}

/** By the names that traced programs use. */
export const tracing = { enter, leave, failed, item, satisfied, held, heldFor, reached };

/** Begins a call; returns the one that it comes from, for `leave`. */
function enter({ recorder }: TracingMachine, of: number): Frame | undefined {
  const from = recorder.frame;
  recorder.frame = recorder.begin(of);
  return from;
}

function leave({ recorder }: TracingMachine, of: number, from: Frame | undefined): void {
  if (recorder.frame !== undefined) recorder.last[of] = recorder.frame;
  recorder.frame = from;
}

function failed({ recorder }: TracingMachine, number: number, ...values: Maybe[]): void {
  const { frame, watched, last } = recorder;
  const { rank, definition, calls } = watched[number] as Watched;
  if (frame === undefined || definition < 0) return;
  const before = frame.failed[definition];
  if (before !== undefined && before.rank >= rank) return;
  frame.failed[definition] = {
    ...{ number, rank, values, before: before && { ...before, before: undefined } },
    calls: calls.flatMap((one) => last[one] ?? []),
  };
}

/** An item of an `every` begins. */
function item({ recorder: { frame, watched } }: TracingMachine, loop: number): void {
  frame?.items.set(loop, frame.failed[(watched[loop] as Watched).definition]);
}

/** All holds for the item: what failed on the way tells nothing, and is about somebody for whom the `every` holds. */
function satisfied({ recorder: { frame, watched } }: TracingMachine, loop: number): void {
  const { definition } = watched[loop] as Watched;
  if (frame !== undefined && definition >= 0) frame.failed[definition] = frame.items.get(loop);
}

function held({ recorder: { frame, watched } }: TracingMachine, number: number, value: Maybe): void {
  frame?.held.set((watched[number] as Watched).definition, value);
}

/** After `held`, inside of loops. */
function heldFor({ recorder: { frame, watched } }: TracingMachine, number: number, ...items: Maybe[]): void {
  const { definition } = watched[number] as Watched;
  const known = frame?.heldFor.get(definition);
  if (known === undefined) frame?.heldFor.set(definition, [items]);
  else if (known.length < limits.whyNotItemsMax) known.push(items);
}

function reached({ recorder }: TracingMachine, number: number): void {
  recorder.reached[number] = 1;
}
