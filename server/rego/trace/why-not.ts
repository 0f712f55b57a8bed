/**
 * Why a policy did not allow: for each rule that could have, the first condition that did not hold, what it looked at,
 * and what would have made the policy allow, which is only said after an evaluation with it has allowed.
 */

import { isDeepStrictEqual } from 'node:util';
import { limits } from '../../core/limits.ts';
import { PolicyError } from '../budget.ts';
import { PlanBailout } from '../plan/machine.ts';
import { partsOf } from '../plan/parts.ts';
import type { Block, Statement } from '../plan/source.ts';
import type { JsonObject, PlanValue } from '../plan/values.ts';
import { type Consenting, factsOf, inputWith, possibleFactsOf } from './facts.ts';
import { type Definition, type Numbered, outcomeRule } from './index-plan.ts';
import { type Lack, Lacks, type Place } from './lacks.ts';
import { type Name, nameText, resolved } from './names.ts';
import { evaluateTraced, type TracedProgram } from './program.ts';
import type { Failure, Frame, Recorder } from './recorder.ts';
import type { FailedCondition, ShownValue, WhyNot, WhyNotRule } from './schema.ts';
import { shownValue } from './shown.ts';
import { isIn, SourceLines, type SourceText } from './source-lines.ts';

/** Rules behind rules. */
const DEPTH_MAX = 4;
/** Facts that are tried together for one rule. */
const ROUNDS_MAX = 4;

/** `sources`: the policy's own, and those of its libraries. */
type Asked = { sources: readonly SourceText[]; input: unknown; now: bigint; data?: JsonObject } & Consenting;

export function whyNot(traced: TracedProgram, recorder: Recorder, asked: Asked): WhyNot {
  return new Telling(traced, recorder, asked).tell();
}

/** What is expected of a rule: that it gives allow, that it holds, or that it does not. */
type Expected = 'allow' | 'holds' | 'holds not';
type How = {
  given: readonly Name[];
  expected: Expected;
  depth: number;
  /** What is looked up in the set or object that it gives a part of. */
  wanted?: unknown;
};

/** Whether a rule that gave parts of a set or object did not give the one that is looked up. */
const isOpen = ({ expected, wanted }: How, gives: Statement | undefined) =>
  expected === 'holds' && wanted !== undefined && (gives?.[0] === 'add' || gives?.[0] === 'insertOnce');

/** A rule that is told, where it is, and what it lacks. */
type Told = { rule: WhyNotRule; lacks: readonly Lack[] };

class Telling {
  readonly #traced: TracedProgram;
  readonly #asked: Asked;
  readonly #lines: SourceLines;
  readonly #recorder: Recorder;
  #left = limits.whyNotRulesMax;
  #tries = limits.whyNotTriesMax;
  /** Of all tries together: what takes all of its budget is explained without them. */
  #fuel: number = limits.evaluateFuel;
  #truncated: boolean;
  /** Rules that lack something, in the order of telling. */
  readonly #told: Told[] = [];

  constructor(traced: TracedProgram, recorder: Recorder, asked: Asked) {
    this.#traced = traced;
    this.#asked = asked;
    this.#recorder = recorder;
    this.#truncated = recorder.truncated;
    this.#lines = new SourceLines(asked.sources);
  }

  tell(): WhyNot {
    const { index } = this.#traced;
    const outcome = outcomeRule(index);
    const frame = outcome === undefined ? undefined : this.#recorder.last[outcome];
    if (frame === undefined) return { rules: [], ...(this.#truncated ? { truncated: true } : {}) };
    const rules: WhyNotRule[] = [];
    for (const [number, definition] of this.#candidates(frame.of, 'allow')) {
      const before = this.#told.length;
      const rule = this.#rule(frame, number, definition, { given: [], expected: 'allow', depth: DEPTH_MAX });
      if (rule === undefined) break;
      rules.push(rule);
      for (const told of this.#told.slice(before)) this.#try(told, { of: frame.of, definition: number, given: [] });
    }
    return { rules, ...(this.#truncated ? { truncated: true } : {}) };
  }

  /** The definitions of a rule that could have done what is expected. */
  #candidates(of: number, expected: Expected): [number, Definition][] {
    const definitions = this.#traced.index.definitions[of] ?? [];
    return [...definitions.entries()].filter(([number, { kind, gives }]) => {
      if (expected === 'holds not') return kind === 'rule' || kind === 'else' || kind === 'default';
      if (kind !== 'rule' && kind !== 'else') return false;
      const value = gives && this.#traced.names(of, number)?.of(gives[1] as number);
      if (value?.is !== 'constant') return true;
      return expected === 'allow' ? value.value === 'allow' : value.value !== false;
    });
  }

  #rule(frame: Frame, number: number, { head, gives }: Definition, how: How): WhyNotRule | undefined {
    if (this.#left-- <= 0) {
      this.#truncated = true;
      return undefined;
    }
    const { of } = frame;
    const called = this.#traced.index.plan.functions[of]?.path.slice(1).join('.') ?? '';
    const own = this.#lines.head(head, called);
    const { given, wanted } = how;
    const place: Place = { of, definition: number, given, ...(wanted === undefined ? {} : { wanted }) };
    if (frame.held.has(number) && !isOpen(how, gives)) {
      const value = frame.held.get(number);
      const shown = value === undefined ? {} : { value: shownValue('', value).value };
      const because =
        how.expected === 'holds not' || gives === undefined
          ? []
          : this.#behind(place, gives, this.#lastCalls(gives), how);
      const condition = because.length === 0 ? {} : { condition: { ...own, values: [], because } };
      const items = how.expected === 'holds not' ? this.#heldFor(place, frame, gives) : [];
      return { ...own, held: true, ...shown, ...(items.length === 0 ? {} : { heldFor: items }), ...condition };
    }
    const failure = frame.failed[number];
    if (failure === undefined && frame.held.has(number)) return own;
    if (failure === undefined || this.#isFirst(place, failure)) {
      const held = [...frame.held.keys()].filter((other) => other < number).at(-1);
      const before = held === undefined ? undefined : this.#traced.index.definitions[of]?.[held]?.head;
      return { ...own, notReached: before && head.row > 0 ? { line: before.row } : {} };
    }
    const [condition, lacks] = this.#condition(place, failure, how);
    const rule = { ...own, condition };
    if (lacks.length > 0) this.#told.push({ rule, lacks });
    return rule;
  }

  /** Whether a definition was left because the one before its `else` held. */
  #isFirst({ of, definition }: Place, failure: Failure): boolean {
    const first = this.#traced.index.definitions[of]?.[definition]?.statements[0];
    return first?.[0] === 'isUndefined' && this.#traced.index.number(first) === failure.number;
  }

  #lastCalls(one: Statement): Frame[] {
    const { index, watched } = this.#traced;
    return (watched[index.number(one)]?.calls ?? []).flatMap((of) => this.#recorder.last[of] ?? []);
  }

  #condition(place: Place, failure: Failure, { given, expected, depth }: How): [FailedCondition, Lack[]] {
    const one = this.#traced.index.numbered[failure.number] as Numbered;
    const inner = this.#inner(one, failure);
    const calls = [...failure.calls, ...(inner?.calls ?? [])];
    const isNegated = one.statement[0] === 'not';
    const because = this.#behind(place, one.statement, calls, {
      ...{ given, depth },
      expected: isNegated ? 'holds not' : 'holds',
    });
    const lacks = expected === 'holds not' ? [] : this.#lacks(place, one, calls);
    const condition: FailedCondition = {
      ...{ ...this.#lines.condition(one.place), values: this.#values(place, failure) },
      ...(inner === undefined ? {} : { item: this.#item(place, inner) }),
      ...(lacks.length === 0
        ? {}
        : { missing: lacks.flatMap((lack) => factsOf(lack, this.#asked.input, this.#asked)) }),
      ...(because.length === 0 ? {} : { because }),
    };
    return [condition, lacks];
  }

  /** What a condition lacks; a negation, what the rules that it asks look for in negations of their own. */
  #lacks(place: Place, one: Numbered, calls: readonly Frame[], input = this.#asked.input): Lack[] {
    const lacks = new Lacks(this.#traced, input);
    if (one.statement[0] !== 'not') return lacks.upTo(place, one.rank);
    return calls.flatMap((frame) => {
      const given = this.#argumentsOf(place, one.statement, frame.of, place.given);
      return [...frame.held.keys()].flatMap((definition) => lacks.against({ of: frame.of, definition, given }));
    });
  }

  /** The items of lists for which a rule held. */
  #heldFor({ of, definition, given }: Place, frame: Frame, gives: Statement | undefined): ShownValue[] {
    const names = this.#traced.names(of, definition);
    const locals = gives === undefined ? [] : this.#traced.index.itemsAround(gives);
    const items = (frame.heldFor.get(definition) ?? []).flatMap((values) =>
      locals.map((local, i) => shownValue(nameText(resolved(names?.of(local), given)), values[i])),
    );
    const unique = new Map(items.map((item) => [JSON.stringify(item), item]));
    return [...unique.values()].slice(0, limits.whyNotItemsMax);
  }

  /** The condition inside of an `every` that did not hold for an item. */
  #inner({ statement, place }: Numbered, { before }: Failure): Failure | undefined {
    if (before === undefined || (statement[0] !== 'isUndefined' && statement[0] !== 'isDefined')) return undefined;
    const span = this.#lines.span(place);
    const at = this.#traced.index.numbered[before.number]?.place;
    return span && at?.file === place.file && isIn(span, at) ? before : undefined;
  }

  #item(place: Place, failure: Failure): NonNullable<FailedCondition['item']> {
    const { place: at } = this.#traced.index.numbered[failure.number] as Numbered;
    return { ...this.#lines.condition(at), values: this.#values(place, failure) };
  }

  #values({ of, definition, given }: Place, { number, values }: Failure): ShownValue[] {
    const names = this.#traced.names(of, definition);
    return (this.#traced.operands[number] ?? []).map((local, i) =>
      shownValue(nameText(resolved(names?.of(local), given)), values[i] as PlanValue | undefined),
    );
  }

  /** Why the rules that a statement calls did not give what was expected, one entry for each that was evaluated in these calls. */
  #behind(place: Place, one: Statement, calls: readonly Frame[], { given, expected, depth }: How): WhyNotRule[] {
    if (depth === 0) return [];
    return calls.flatMap((frame) => {
      const names = this.#argumentsOf(place, one, frame.of, given);
      const wanted = new Lacks(this.#traced, this.#asked.input).wantedOf(frame.of, place);
      const how: How = { given: names, expected, depth: depth - 1, ...(wanted === undefined ? {} : { wanted }) };
      return this.#candidates(frame.of, expected).flatMap(([number, definition]) => {
        const isHeld = frame.held.has(number) && !isOpen(how, definition.gives);
        if (expected === 'holds not' ? !isHeld : isHeld && expected !== 'allow') return [];
        return this.#rule(frame, number, definition, how) ?? [];
      });
    });
  }

  /** What a function is given by the condition that a statement is in. */
  #argumentsOf({ of, definition }: Place, one: Statement, called: number, given: readonly Name[]): Name[] {
    const { index } = this.#traced;
    const names = this.#traced.names(of, definition);
    const span = this.#lines.around(index.of(one).place);
    const name = index.plan.functions[called]?.name;
    let found: Statement | undefined;
    const look = (block: Block): void => {
      for (const each of block) {
        const at = index.of(each).place;
        if (each[0] === 'call' && each[1] === name && (span === undefined || isIn(span, at))) found ??= each;
        for (const inner of partsOf(each).blocks) look(inner);
      }
    };
    look(index.definitions[of]?.[definition]?.statements ?? []);
    const operands = found?.[0] === 'call' ? found[2].slice(2) : [];
    return operands.map((operand) => resolved(names?.of(operand), given) ?? { is: 'made', items: undefined });
  }

  /** Evaluates with what a rule lacks, and with what the rule of the outcome lacks then, until the policy allows. */
  #try({ rule, lacks }: Told, root: Place): void {
    let tried = [...lacks];
    for (let round = 0; round < ROUNDS_MAX && this.#tries-- > 0 && this.#fuel > 0; round++) {
      const input = inputWith(this.#asked.input, tried, this.#asked);
      const recorder = this.#evaluated(input);
      if (recorder === undefined) return;
      if (recorder === 'allow') {
        rule.wouldAllowIf = tried.flatMap((lack) => possibleFactsOf(lack, this.#asked.input, this.#asked));
        return;
      }
      const more = this.#nextLacks(recorder, root, input, DEPTH_MAX).filter((lack) => !has(tried, lack));
      if (more.length === 0) return;
      tried = [...tried, ...more];
    }
  }

  #evaluated(input: unknown): 'allow' | Recorder | undefined {
    try {
      const { now, data } = this.#asked;
      const fuel = this.#fuel;
      this.#fuel = 0; // unless it ends within
      const { result, recorder, fuelUsed } = evaluateTraced(this.#traced, input, {
        now,
        fuel,
        ...(data ? { data } : {}),
      });
      this.#fuel = fuel - fuelUsed;
      return (result as { outcome?: unknown } | undefined)?.outcome === 'allow' ? 'allow' : recorder;
    } catch (error) {
      if (error instanceof PolicyError || error instanceof PlanBailout) return undefined;
      throw error;
    }
  }

  /** What the first condition of a definition lacks now, or else the first rule that it asks. */
  #nextLacks(recorder: Recorder, place: Place, input: unknown, depth: number): Lack[] {
    const failure = recorder.last[place.of]?.failed[place.definition];
    const one = failure && this.#traced.index.numbered[failure.number];
    if (one === undefined || failure === undefined || depth === 0) return [];
    const own = this.#lacks(place, one, failure.calls, input);
    if (own.length > 0 || one.statement[0] === 'not') return own;
    for (const frame of failure.calls) {
      const given = this.#argumentsOf(place, one.statement, frame.of, place.given);
      const wanted = new Lacks(this.#traced, input).wantedOf(frame.of, place);
      for (const [definition] of this.#candidates(frame.of, 'holds')) {
        const called = { of: frame.of, definition, given, ...(wanted === undefined ? {} : { wanted }) };
        const found = this.#nextLacks(recorder, called, input, depth - 1);
        if (found.length > 0) return found;
      }
    }
    return [];
  }
}

const has = (lacks: readonly Lack[], lack: Lack) => lacks.some((one) => isDeepStrictEqual(one, lack));
