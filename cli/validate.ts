/**
 * `accord validate`: manifests checked offline as the operator would: shape and rules, names and references over all files
 * given, Rego compiled, graphs converted, tests run. It ends with 0 when there is no error, with 1 when there is one, and
 * with 2 when the command line is wrong.
 */
import { notesOn } from '../crds/index.ts';
import type { FileObject } from '../operator/index.ts';
import { systemClock } from '../server/core/clock.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { createProgress } from './output.ts';
import { contentFindings, refusals } from './validate/acceptance.ts';
import { about, aboutLines, type Finding } from './validate/findings.ts';
import { type Format, formats } from './validate/formats.ts';
import { checkPolicies } from './validate/policies.ts';
import { unknownInPolicies } from './validate/policy-references.ts';
import { readAll } from './validate/read.ts';
import { duplicates, unknownReferences } from './validate/references.ts';

export async function run({ positionals, values, flags }: Parsed): Promise<number> {
  const wrong = (why: string) => new UsageError(`accord validate: ${why}\nusage: ${commands.validate.usage}`);
  if (positionals.length === 0) throw wrong('name files or directories, or - for standard input');
  const { format = 'text' } = values;
  if (!(format in formats)) throw wrong(`--format is one of ${Object.keys(formats).join(', ')}`);
  const progress = createProgress();
  try {
    const { objects, findings: unread } = await readAll([...new Set(positionals)], (path) => progress.step(path));
    const refused = objects.flatMap((object) =>
      object.checked.ok ? [] : aboutLines(object, 'invalid', object.checked.message),
    );
    const policies = await checkPolicies(objects, ({ name }) => progress.step(`Policy ${name}`));
    const unknown = flags.has('partial') ? [] : [...unknownReferences(objects), ...unknownInPolicies(objects)];
    const refusedByTenants = [...contentFindings(objects), ...refusals(objects, systemClock.now())];
    const together = [...duplicates(objects), ...refusedByTenants, ...unknown];
    const findings = [...unread, ...refused, ...together, ...policies, ...notes(objects)].sort(byPlace);
    progress.done();
    console.log(formats[format as Format]({ manifests: objects.length, objects, findings }));
    return findings.some(({ severity }) => severity === 'error') ? 1 : 0;
  } finally {
    progress.done();
  }
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
