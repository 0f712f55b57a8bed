/** Owns checking the policies among the manifests: compiled as they would be, and their tests run. */
import type { PolicyManifest } from '../../crds/index.ts';
import { type FileObject, refusalOf } from '../../operator/index.ts';
import { systemClock } from '../../server/core/clock.ts';
import { checkPolicy, Engine } from '../../server/policies/index.ts';
import { createCompiler, definesOutcome, readsAllNote } from '../../server/rego/index.ts';
import { about, aboutLines, type Finding } from './findings.ts';

/** @param progress told whose turn it is */
export async function checkPolicies(
  objects: readonly FileObject[],
  progress: (object: FileObject) => void,
): Promise<Finding[]> {
  const compiler = createCompiler();
  const engine = new Engine({ fetch: async () => undefined, clock: systemClock, observe: () => {} });
  const findings: Finding[] = [];
  try {
    for (const object of objects) {
      if (object.kind !== 'Policy' || !object.checked.ok) continue;
      progress(object);
      findings.push(...(await check(object, object.checked.manifest as PolicyManifest, { compiler, engine })));
    }
  } finally {
    await compiler.close();
    await engine.close();
  }
  return findings;
}

async function check(
  object: FileObject,
  { spec }: PolicyManifest,
  services: Parameters<typeof checkPolicy>[0],
): Promise<Finding[]> {
  try {
    const { rego, graph, tests } = spec;
    const body = { ...(rego === undefined ? {} : { rego }), ...(graph === undefined ? {} : { graph }) };
    const compiled = await checkPolicy(services, spec.name, body, tests ?? [], systemClock.now());
    if (definesOutcome(compiled) !== false) {
      const note = readsAllNote(compiled.reads);
      return note === undefined ? [] : [about(object, 'reads-all', note, 'note')];
    }
    const what = graph ? 'no node of the graph is an outcome' : `the package ${compiled.package} has no rule outcome`;
    return [about(object, 'no-outcome', `${what}: the policy never produces an outcome, so it always denies`)];
  } catch (error) {
    const refusal = refusalOf(error, object.locate);
    if (refusal === undefined) throw error;
    return aboutLines(object, 'policy', refusal.message);
  }
}
