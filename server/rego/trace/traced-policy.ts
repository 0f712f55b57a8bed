/** Policies whose evaluations are explained or counted for coverage: apart from those that decide. */
import type { BaseDocument } from '../evaluator.ts';
import { PlanBailout } from '../plan/machine.ts';
import { OWN_FILE, UnsupportedPlan } from '../plan/source.ts';
import type { JsonObject } from '../plan/values.ts';
import type { OutlinedRule } from '../schema.ts';
import { type ModuleReached, modulePlaces, reachedIn, reachedSpans, spanNumbers } from './coverage.ts';
import type { Consenting } from './facts.ts';
import { evaluateTraced, isNoted, loadTraced, type TracedProgram } from './program.ts';
import type { WhyNot } from './schema.ts';
import type { SourceText } from './source-lines.ts';
import { whyNot } from './why-not.ts';

/** What the compiler gives with `trace`, and the source that it was given. */
export type TracedSource = {
  readonly plan: string;
  readonly source: string;
  readonly outline: readonly OutlinedRule[];
  /** The modules of the libraries that it was compiled with. */
  readonly libraries?: readonly SourceText[];
};

/** What an evaluation tells beside its result; `reached`: numbers of the source's spans (coverage.ts). */
export type Told =
  | { whyNot: WhyNot }
  | { reached: number[]; modules: readonly ModuleReached[] }
  | { unavailable: string };
export type Wanted = 'whyNot' | 'coverage';

export class TracedPolicy {
  readonly #source: TracedSource;
  readonly #program: TracedProgram | undefined;
  readonly #spans: readonly (number | undefined)[];
  readonly #modules: ReturnType<typeof modulePlaces>;
  #unavailable = '';

  constructor(source: TracedSource) {
    this.#source = source;
    try {
      this.#program = loadTraced(source.plan);
    } catch (error) {
      if (!(error instanceof UnsupportedPlan)) throw error;
      this.#unavailable = error.message;
    }
    this.#spans = this.#program === undefined ? [] : spanNumbers(this.#program.index, source.outline);
    this.#modules = this.#program === undefined ? [] : modulePlaces(this.#program.index, isNoted);
  }

  /** @throws PolicyError as an evaluation that is not traced does */
  evaluate(
    input: unknown,
    now: bigint,
    wanted: Wanted,
    { data = {}, ...asked }: { data?: BaseDocument } & Consenting = {},
  ): { result: unknown; fuelUsed: number; told: Told } {
    const program = this.#program;
    if (program === undefined) return { result: undefined, fuelUsed: 0, told: { unavailable: this.#unavailable } };
    try {
      const { result, fuelUsed, recorder } = evaluateTraced(program, input, { now, data: data as JsonObject });
      const { source, outline, libraries = [] } = this.#source;
      const sources = [{ file: OWN_FILE, source, outline }, ...libraries];
      const told =
        wanted === 'coverage'
          ? { reached: reachedSpans(recorder, this.#spans), modules: reachedIn(recorder, this.#modules) }
          : { whyNot: whyNot(program, recorder, { sources, input, now, data: data as JsonObject, ...asked }) };
      return { result, fuelUsed, told };
    } catch (error) {
      if (!(error instanceof PlanBailout)) throw error;
      return { result: undefined, fuelUsed: 0, told: { unavailable: error.message } };
    }
  }
}
