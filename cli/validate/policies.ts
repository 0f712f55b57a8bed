import type { PolicyManifest } from '../../crds/index.ts';
import { type FileObject, refusalOf } from '../../operator/index.ts';
import { systemClock } from '../../server/core/clock.ts';
import {
  ALLOW_NOT_TESTED,
  checkPolicy,
  consentNotes,
  Engine,
  type PartSet,
  statedBody,
} from '../../server/policies/index.ts';
import { type Compiled, createCompiler, noOutcome, readsNote, relationshipsRead } from '../../server/rego/index.ts';
import { about, aboutLines, at, type Finding } from './findings.ts';
import { checkParts } from './parts.ts';

/** @param progress told whose turn it is */
export async function checkPolicies(
  objects: readonly FileObject[],
  progress: (object: FileObject) => void,
): Promise<Finding[]> {
  const compiler = createCompiler();
  const engine = new Engine({ fetch: async () => undefined, clock: systemClock, observe: () => {} });
  const findings: Finding[] = [];
  try {
    const parts = await checkParts(objects, compiler);
    findings.push(...parts.findings);
    for (const object of objects) {
      if (object.kind !== 'Policy' || !object.checked.ok) continue;
      progress(object);
      const manifest = object.checked.manifest as PolicyManifest;
      const set = parts.setOf(manifest.spec.tenantRef.name);
      findings.push(...(await check(object, manifest, set, { compiler, engine })));
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
  set: PartSet,
  services: Parameters<typeof checkPolicy>[0],
): Promise<Finding[]> {
  try {
    const { graph, tests } = spec;
    const compiled = await checkPolicy(services, spec.name, statedBody(spec), tests ?? [], systemClock.now(), set);
    return [
      ...outcomeOf(object, compiled),
      ...readsOf(object, compiled, graph),
      ...consentsOf(object, spec, compiled),
      ...testsOf(object, compiled),
    ];
  } catch (error) {
    const refusal = refusalOf(error, object.locate);
    if (refusal === undefined) throw error;
    return aboutLines(object, 'policy', refusal.message);
  }
}

function outcomeOf(object: FileObject, compiled: Compiled): Finding[] {
  const never = noOutcome(compiled);
  if (never === undefined) return [];
  const why = {
    missing: `the package ${compiled.package} has no rule outcome`,
    never: 'the rule outcome never holds, or has values only that are neither allow, nor deny, nor an object',
  };
  return [about(object, 'no-outcome', `${why[never]}: the policy never produces an outcome, so it always denies`)];
}

function testsOf(object: FileObject, { allowTested }: { allowTested: boolean | null }): Finding[] {
  if (allowTested !== false) return [];
  return [at(object, 'allow-not-tested', { pointer: '/spec/tests' }, ALLOW_NOT_TESTED, 'note')];
}

/** The lines of the Rego that is made from a graph are nobody's lines: the note names nodes, or the graph as a whole. */
function readsOf(object: FileObject, { reads }: Compiled, graph: PolicyManifest['spec']['graph']): Finding[] {
  const read = readsNote(reads, graph && { nodes: openNodes(graph) });
  if (read === undefined) return [];
  const { line } = relationshipsRead(reads);
  const place = graph !== undefined || line === undefined ? {} : { line };
  const pointer = graph === undefined ? '/spec/rego' : '/spec/graph';
  return [at(object, read.how === 'all' ? 'reads-all' : 'reads-by-type', { pointer, ...place }, read.note, 'note')];
}

/** The policy that reads the wrong person's consents, or none. */
function consentsOf(
  object: FileObject,
  { name, graph, dataSubjects }: PolicyManifest['spec'],
  { reads }: Compiled,
): Finding[] {
  const source = graph === undefined ? '/spec/rego' : '/spec/graph';
  const pointer = dataSubjects === undefined ? source : '/spec/dataSubjects';
  return consentNotes(name, dataSubjects, reads).map((note) => at(object, 'data-subjects', { pointer }, note, 'note'));
}

/** The nodes of a drawn policy that ask for a relationship to anything of a type. */
function openNodes({ nodes }: NonNullable<PolicyManifest['spec']['graph']>): string | undefined {
  const open = nodes.filter(({ conditions }) => conditions?.some(({ target }) => target === 'anyOfType'));
  const [first, ...others] = open.map(({ id }) => `node ${id}`);
  return first && [first, ...others].join(', ');
}
