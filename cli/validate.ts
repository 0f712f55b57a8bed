/**
 * `accord validate`: manifests checked offline as the operator would: shape and rules, names and references over all files
 * given, Rego compiled, graphs converted, tests run. It ends with 0 when there is no error, with 1 when there is one, and
 * with 2 when the command line is wrong.
 */
import { notesOn } from '../crds/index.ts';
import type { FileObject } from '../operator/index.ts';
import { type Clock, systemClock } from '../server/core/clock.ts';
import type { Room } from '../server/room/room.ts';
import { rooms } from '../server/rooms.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { createProgress } from './output.ts';
import { about, aboutLines, type Finding, rulesOf } from './validate/findings.ts';
import { type Format, formats } from './validate/formats.ts';
import { acceptanceFindings, CheckedKinds, slowFindings, unknownReferences } from './validate/kinds.ts';
import { duplicates } from './validate/names.ts';
import { readAll } from './validate/read.ts';

export async function run({ positionals, values, flags }: Parsed): Promise<number> {
  const wrong = (why: string) => new UsageError(`accord validate: ${why}\nusage: ${commands.validate.usage}`);
  if (positionals.length === 0) throw wrong('name files or directories, or - for standard input');
  const { format = 'text' } = values;
  if (!(format in formats)) throw wrong(`--format is one of ${Object.keys(formats).join(', ')}`);
  const progress = createProgress();
  try {
    const { objects, findings: unread } = await readAll([...new Set(positionals)], (path) => progress.step(path));
    const checking = { rooms, clock: systemClock, partial: flags.has('partial') };
    const found = await check(objects, { ...checking, progress: ({ kind, name }) => progress.step(`${kind} ${name}`) });
    const findings = [...unread, ...found].sort(byPlace);
    progress.done();
    console.log(formats[format as Format]({ manifests: objects.length, objects, findings, rules: rulesOf(rooms) }));
    return findings.some(({ severity }) => severity === 'error') ? 1 : 0;
  } finally {
    progress.done();
  }
}

export type Checking = {
  rooms: readonly Room[];
  clock: Clock;
  /** What a manifest refers to may be elsewhere. */
  partial: boolean;
  /** Told of each manifest whose checks take long. */
  progress: (object: FileObject) => void;
};

/** All that is found in manifests that were read. */
export async function check(
  objects: readonly FileObject[],
  { rooms, partial, ...checking }: Checking,
): Promise<Finding[]> {
  const kinds = new CheckedKinds(rooms);
  const refused = objects.flatMap((object) =>
    object.checked.ok ? [] : aboutLines(object, 'invalid', object.checked.message),
  );
  const slow = await slowFindings(objects, kinds, checking);
  const unknown = unknownReferences(objects, kinds);
  const unaccepted = acceptanceFindings(objects, kinds, checking.clock.now());
  const all = [...refused, ...duplicates(objects, kinds), ...unaccepted, ...unknown, ...slow, ...notes(objects)];
  return partial ? all.filter(({ rule }) => rule !== 'unknown-reference') : all;
}

/** What a manifest says that has no effect yet. */
function notes(objects: readonly FileObject[]): Finding[] {
  return objects.flatMap((object) =>
    object.checked.ok ? notesOn(object.checked.manifest).map((note) => about(object, 'no-effect', note, 'note')) : [],
  );
}

function byPlace(a: Finding, b: Finding): number {
  if (a.file !== b.file) return (a.file ?? '') < (b.file ?? '') ? -1 : 1;
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}
