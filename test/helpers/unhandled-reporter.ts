/** A reporter of vitest: writes the errors that no test caught, which vitest's report in JSON leaves out. */
import { writeFileSync } from 'node:fs';
import type { Reporter } from 'vitest/node';
import type { Unhandled } from './report.ts';

export default class implements Reporter {
  onTestRunEnd: NonNullable<Reporter['onTestRunEnd']> = (_modules, errors) => {
    const unhandled: Unhandled[] = errors.map(({ message, VITEST_TEST_PATH: file }) => ({
      message,
      ...(typeof file === 'string' && { file }),
    }));
    writeFileSync(process.env.TEST_UNHANDLED as string, JSON.stringify(unhandled));
  };
}
