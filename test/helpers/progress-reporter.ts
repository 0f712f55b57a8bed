/**
 * What somebody sees of a run: at a terminal, which files run and how many of all are done; elsewhere, a line for each so many
 * files. What failed is said as vitest says it. At the end the slowest files.
 */
import { writeFileSync } from 'node:fs';
import { DefaultReporter, type TestModule } from 'vitest/node';
import { type ByFile, type Counts, type Durations, slowest } from './durations.ts';

const FILES_PER_LINE = 25;
const SLOWEST = 10;
/** Nobody waits for less than this. */
const SLOW_SECONDS = 5;

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
const seconds = (ms: number) => Math.round(ms / 10) / 100;

function durationsOf(module: TestModule): Durations {
  const { prepareDuration, environmentSetupDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  const tests = sum([...module.children.allTests()].map((test) => test.diagnostic()?.duration ?? 0));
  return {
    start: seconds(prepareDuration + environmentSetupDuration),
    import: seconds(collectDuration),
    setup: seconds(setupDuration),
    tests: seconds(tests),
    hooks: seconds(Math.max(duration - tests, 0)),
  };
}

function countsOf(module: TestModule): Counts {
  const tests = [...module.children.allTests()];
  return {
    passed: tests.filter((test) => test.result().state === 'passed').length,
    assertions: sum(tests.map((test) => test.meta().assertions ?? 0)),
  };
}

export default class extends DefaultReporter {
  #started = 0;
  #files = 0;
  #failed = 0;
  readonly #byFile: Record<string, ByFile[string]> = {};

  override onTestRunStart: DefaultReporter['onTestRunStart'] = (specifications) => {
    super.onTestRunStart(specifications);
    this.#started = performance.now();
    this.#files = specifications.length;
    this.log(`${this.#files} files of tests\n`);
  };

  override onTestModuleEnd(module: TestModule): void {
    this.#byFile[module.relativeModuleId] = { ...durationsOf(module), ...countsOf(module) };
    if (module.state() === 'failed') this.#failed += 1;
    super.onTestModuleEnd(module);
    const done = Object.keys(this.#byFile).length;
    if (!this.isTTY && (done % FILES_PER_LINE === 0 || done === this.#files)) this.log(this.#progress(done));
  }

  /** A file that passed is in the counts; who runs one file sees its tests. */
  override printTestModule(module: TestModule): void {
    if (module.state() === 'failed' || this.#files === 1) super.printTestModule(module);
  }

  override onTestRunEnd: DefaultReporter['onTestRunEnd'] = (modules, errors, reason) => {
    // Vitest would list each file that there is.
    if (modules.length === 0 && errors.length === 0) this.log('No test file matches.');
    else super.onTestRunEnd(modules, errors, reason);
    const slow = slowest(this.#byFile, SLOWEST).filter(([, all]) => all >= SLOW_SECONDS);
    if (slow.length > 0 && this.#files > 1) {
      this.log(`\nThe slowest files, of which each took ${SLOW_SECONDS} s or more:`);
      for (const [file, all] of slow) this.log(`${all.toFixed(0).padStart(6)} s  ${file}`);
    }
    const file = process.env.TEST_DURATIONS;
    if (file !== undefined) writeFileSync(file, JSON.stringify(this.#byFile));
  };

  /** What does not close would be said, and end green. */
  onProcessTimeout(): void {
    process.exitCode = 1;
  }

  #progress(done: number): string {
    const failed = this.#failed === 0 ? '' : `, ${this.#failed} of them failed`;
    return `${done} of ${this.#files} files done after ${((performance.now() - this.#started) / 1000).toFixed(0)} s${failed}`;
  }
}
