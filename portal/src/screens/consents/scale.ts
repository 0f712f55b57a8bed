/** From instants to places on the time line, pure. */
import type { SeenVersion } from './seen.ts';

const DAY_MS = 86_400_000;
export type Scale = { from: number; until: number; step: number };

/** All dates of a definition and now, with some room at both ends. The step of the slider is a day, or less on a short line. */
export function scaleOf(versions: readonly SeenVersion[], now: number): Scale {
  const dates = versions.flatMap(({ documents, endOfLife }) => [
    ...documents.map((one) => one.effectiveDate),
    ...(endOfLife ? [endOfLife.startDate, endOfLife.endDate] : []),
  ]);
  const [first, last] = [Math.min(now, ...dates), Math.max(now, ...dates)];
  const room = Math.max((last - first) * 0.06, DAY_MS);
  const long = last - first + 2 * room;
  const step = long > 90 * DAY_MS ? DAY_MS : 3_600_000;
  return { from: Math.floor((first - room) / step) * step, until: Math.ceil((last + room) / step) * step, step };
}

export type Change = {
  at: number;
  kind: 'effective' | 'starts' | 'ends';
  version: string;
  document?: string;
  language?: string;
};

/** What changes when, oldest first. */
export const changesOf = (versions: readonly SeenVersion[]): Change[] =>
  versions
    .flatMap(({ version, documents, endOfLife }): Change[] => [
      ...documents.map((one): Change => {
        return { at: one.effectiveDate, kind: 'effective', version, document: one.version, language: one.language };
      }),
      ...(endOfLife
        ? [
            { at: endOfLife.startDate, kind: 'starts' as const, version },
            { at: endOfLife.endDate, kind: 'ends' as const, version },
          ]
        : []),
    ])
    .sort((a, b) => a.at - b.at);
