/** `accord validate`: manifests checked offline as the operator would: shape and rules, Rego compiled, graphs converted, tests run. */
import { readFile, stat } from 'node:fs/promises';
import type { PolicyManifest } from '../crds/index.ts';
import { describeKey, type FileObject, listTree, parseFile, refusalOf } from '../operator/index.ts';
import { systemClock } from '../server/core/clock.ts';
import { checkPolicy, Engine } from '../server/policies/index.ts';
import { createCompiler } from '../server/rego/index.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { createProgress } from './output.ts';

type Finding = { place: string; message: string };

export async function run({ positionals }: Parsed): Promise<number> {
  if (positionals.length === 0)
    throw new UsageError(`accord validate: name files or directories\nusage: ${commands.validate.usage}`);
  const progress = createProgress();
  const compiler = createCompiler();
  const engine = new Engine({ fetch: async () => undefined, clock: systemClock, observe: () => {} });
  const findings: Finding[] = [];
  let manifests = 0;
  try {
    for (const path of await filesOf(positionals)) {
      const parsed = parseFile(path, await readFile(path, 'utf8'));
      findings.push(...parsed.problems);
      manifests += parsed.objects.length;
      for (const object of parsed.objects) {
        progress.step(`${object.kind} ${object.name}`);
        if (!object.checked.ok) findings.push({ place: describeKey(object.key), message: object.checked.message });
        else if (object.kind === 'Policy')
          findings.push(
            ...(await policyFindings(object, object.checked.manifest as PolicyManifest, { compiler, engine })),
          );
      }
    }
  } finally {
    progress.done();
    await compiler.close();
    await engine.close();
  }
  for (const { place, message } of findings) console.log(`${place}: ${message}`);
  console.log(
    findings.length === 0
      ? `${manifests} manifests are good.`
      : `${findings.length} findings in ${manifests} manifests.`,
  );
  return findings.length === 0 ? 0 : 1;
}

async function filesOf(positionals: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of positionals) {
    if (!(await stat(path)).isDirectory()) {
      files.push(path);
      continue;
    }
    const listing = await listTree(path);
    for (const problem of listing.problems)
      throw new UsageError(`accord validate: ${problem.place}: ${problem.message}`);
    for (const below of listing.files.keys()) files.push(`${path.replace(/\/$/, '')}/${below}`);
  }
  return files;
}

async function policyFindings(
  object: FileObject,
  { spec }: PolicyManifest,
  services: Parameters<typeof checkPolicy>[0],
): Promise<Finding[]> {
  try {
    const { rego, graph, tests } = spec;
    const body = { ...(rego === undefined ? {} : { rego }), ...(graph === undefined ? {} : { graph }) };
    await checkPolicy(services, spec.name, body, tests ?? [], systemClock.now());
    return [];
  } catch (error) {
    const refusal = refusalOf(error, object.locate);
    if (refusal === undefined) throw error;
    return [{ place: describeKey(object.key), message: refusal.message }];
  }
}
