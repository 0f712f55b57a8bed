/**
 * The order of a project's files: those that failed the last time first, and then the longest, so that no worker is left with
 * one when the others have ended. How long a file takes stands in test/durations.json, which a new clone has too.
 */
import { join, relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { secondsOf, usualDurations } from './durations.ts';

const root = join(import.meta.dirname, '../..');

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = usualDurations();
    const rank = (file: TestSpecification) => {
      if (this.ctx.cache.getTestSpecificationResult(file)?.failed) return Number.POSITIVE_INFINITY;
      const took = usual[relative(root, file.moduleId)];
      return took === undefined ? 0 : secondsOf(took);
    };
    const ranked = (await super.sort(files)).map((file) => ({ file, rank: rank(file) }));
    // Projects keep the order that they have.
    return [...Map.groupBy(ranked, ({ file }) => file.project).values()].flatMap((ofProject) =>
      ofProject.sort((a, b) => b.rank - a.rank).map(({ file }) => file),
    );
  }
}
