/** What `accord validate` says of a Policy: whether it compiles and its tests pass, what it never answers, what it costs, what it names. */
import type { Manifest, PolicyManifest } from '../../crds/index.ts';
import { Problem } from '../core/problems.ts';
import { type Compiled, createCompiler, noOutcome, readsNote, relationshipsRead } from '../rego/index.ts';
import {
  type Checker,
  type CheckerOptions,
  type Fault,
  type GivenNames,
  type ManifestChecks,
  unknownReference,
} from '../room/manifest-checks.ts';
import { ALLOW_NOT_TESTED } from './actions.ts';
import { consentNotes, isAboutInvitation } from './data-subjects.ts';
import { Engine } from './engine.ts';
import { checkParts } from './part-checks.ts';
import { effectiveRego, statedBody } from './rules.ts';
import { checkPolicy } from './tests.ts';

type Spec = PolicyManifest['spec'];
type Graph = NonNullable<Spec['graph']>;
type Condition = NonNullable<Graph['nodes'][number]['conditions']>[number];

export const policyChecks: ManifestChecks<PolicyManifest> = {
  rules: {
    policy: 'A policy or library does not compile, a test of a policy fails, or a data document is invalid.',
    'no-outcome': 'A policy never produces an outcome, so it always denies.',
    'reads-all': 'Each decision of a policy reads all relationships of a side.',
    'reads-by-type': 'Each decision of a policy reads all relationships of a side that have some types.',
    'allow-not-tested': 'The tests of a policy pass, and none of them is answered allow.',
    'data-subjects': 'A policy may read the consents of somebody else than those whom the data is about.',
  },
  references: ({ spec }, given) => [
    ...unknownDataSubjects(spec, given),
    // A tenant accepts these, and what they name may be created through the API. Of tenants that are not given nothing is known.
    ...(given.tenant ? [...unknownInName(spec, given), ...unknownInGraph(spec.graph, given)] : []),
  ],
  checker,
};

/** Of libraries and data documents. */
export const partChecks: ManifestChecks = { checker };

/** Policies are compiled with the libraries and data documents that are given, so all three kinds have one. */
function checker({ clock, manifests }: CheckerOptions): Checker<Manifest> {
  const compiler = createCompiler();
  const engine = new Engine({ fetch: async () => undefined, clock, observe: () => {} });
  const parts = checkParts(manifests, compiler);
  parts.catch(() => {}); // thrown where it is awaited
  async function checkOne({ spec }: PolicyManifest): Promise<Fault[]> {
    const { graph, tests } = spec;
    const set = (await parts).setOf(spec.tenantRef.name);
    try {
      const body = statedBody(spec);
      const compiled = await checkPolicy({ compiler, engine }, spec.name, body, tests ?? [], clock.now(), set);
      const sources = { source: effectiveRego(body), uses: compiled.uses, set };
      const notes = await consentNotes(spec.name, spec.dataSubjects, compiled.reads, sources);
      return [...outcomeOf(compiled), ...readsOf(compiled, graph), ...consentsOf(spec, notes), ...testsOf(compiled)];
    } catch (refusal) {
      return [refused(refusal)];
    }
  }
  return {
    async check(manifest) {
      if (manifest.kind === 'Policy') return checkOne(manifest);
      const { refusals } = await parts;
      return refusals.has(manifest) ? [refused(refusals.get(manifest))] : [];
    },
    async close() {
      await compiler.close();
      await engine.close();
    },
  };
}

/** What nobody gives may be in manifests that are elsewhere. */
function refused(refusal: unknown): Fault {
  const isUnknown = refusal instanceof Problem && refusal.code === 'policy_reference_unknown';
  return { rule: isUnknown ? 'unknown-reference' : 'policy', refusal };
}

/** Which a tenant refuses, unlike what the conditions of a policy name. */
function unknownDataSubjects({ dataSubjects }: Spec, given: GivenNames): Fault[] {
  const name = dataSubjects?.relationship;
  if (name === undefined || given.has('RelationshipType', name)) return [];
  return [unknownReference('/spec/dataSubjects/relationship', 'RelationshipType', name)];
}

/**
 * The convention is `resource:action`, or `actor:…` for what concerns an actor or a relationship of one; a tenant without manifests of
 * resource types does not tell its own.
 */
function unknownInName({ name }: Spec, given: GivenNames): Fault[] {
  const [, resource] = /^([^:]+):/.exec(name) ?? [];
  if (isAboutInvitation(name) || (resource !== undefined && given.has('ActorType', resource))) return [];
  if (resource === undefined || !given.hasAny('ResourceType') || given.has('ResourceType', resource)) return [];
  const message = `the name ${name} is for a ResourceType ${resource}, which is not in the files given`;
  return [{ rule: 'unknown-reference', pointer: '/spec/name', message, severity: 'note' }];
}

function unknownInGraph(graph: Spec['graph'], given: GivenNames): Fault[] {
  return (graph?.nodes ?? []).flatMap(({ id, conditions = [] }) => {
    const missing = new Set(conditions.flatMap((condition) => missingIn(condition, given)));
    return [...missing].map((what): Fault => {
      const message = `the node ${id} tests ${what}, which is not in the files given: it is false until that is made`;
      return { rule: 'unknown-reference', pointer: '/spec/graph', message, severity: 'note' };
    });
  });
}

function missingIn({ type, relationshipType, targetType, name }: Condition, given: GivenNames): string[] {
  const missing = (kind: string, called: string | undefined, family = kind) =>
    called === undefined || given.has(family, called) ? [] : [`the ${kind} ${called}`];
  if (type === 'consent') return missing('ConsentDefinition', name);
  if (type !== 'relationship' && type !== 'invitation') return [];
  return [
    ...missing('RelationshipType', relationshipType, 'relationship'),
    ...missing('ActorType or ResourceType', targetType),
  ];
}

function outcomeOf(compiled: Compiled): Fault[] {
  const never = noOutcome(compiled);
  if (never === undefined) return [];
  const why = {
    missing: `the package ${compiled.package} has no rule outcome`,
    never: 'the rule outcome never holds, or has values only that are neither allow, nor deny, nor an object',
  };
  const message = `${why[never]}: the policy never produces an outcome, so it always denies`;
  return [{ rule: 'no-outcome', message }];
}

function testsOf({ allowTested }: { allowTested: boolean | null }): Fault[] {
  if (allowTested !== false) return [];
  return [{ rule: 'allow-not-tested', pointer: '/spec/tests', message: ALLOW_NOT_TESTED, severity: 'note' }];
}

/** The lines of the Rego that is made from a graph are nobody's lines: the note names nodes, or the graph as a whole. */
function readsOf({ reads }: Compiled, graph: Spec['graph']): Fault[] {
  const read = readsNote(reads, graph && { nodes: openNodes(graph) });
  if (read === undefined) return [];
  const { line } = relationshipsRead(reads);
  const place = graph !== undefined || line === undefined ? {} : { line };
  const pointer = graph === undefined ? '/spec/rego' : '/spec/graph';
  const rule = read.how === 'all' ? 'reads-all' : 'reads-by-type';
  return [{ rule, pointer, ...place, message: read.note, severity: 'note' }];
}

/** The policy that reads the wrong person's consents, or none. */
function consentsOf({ graph, dataSubjects }: Spec, notes: readonly string[]): Fault[] {
  const source = graph === undefined ? '/spec/rego' : '/spec/graph';
  const pointer = dataSubjects === undefined ? source : '/spec/dataSubjects';
  return notes.map((message) => ({
    ...{ rule: 'data-subjects', pointer, message },
    severity: 'note',
  }));
}

/** The nodes of a drawn policy that ask for a relationship to anything of a type. */
function openNodes({ nodes }: Graph): string | undefined {
  const open = nodes.filter(({ conditions }) => conditions?.some(({ target }) => target === 'anyOfType'));
  const [first, ...others] = open.map(({ id }) => `node ${id}`);
  return first && [first, ...others].join(', ');
}
