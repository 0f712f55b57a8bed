/** What is drawn of an explained decision. Pure. */
import type {
  Answer,
  Consent,
  Entity,
  Explanation,
  Inherited,
  KnownPath,
  MissingFact,
  Step,
  WhyNotRule,
} from './schema.ts';

export type Relation = Step & {
  /** It leads from the subject to the resource, or is a step of a way that does. */
  lit: boolean;
  /** The steps through which it holds, when it is inherited. */
  path?: KnownPath;
};
/** `paths`: those over which it would be inherited. */
export type MissingRelation = MissingFact & { paths: readonly KnownPath[] };
/** What was found of paths when the facts of a question were loaded. */
export type KnownPaths = { inherited: readonly Inherited[]; missing: readonly Inherited[] };
export type PersonConsent = Consent & { person?: Entity };
export type Why = {
  outcome: 'allow' | 'deny' | 'other';
  subject?: Entity;
  resource?: Entity;
  action?: string;
  relations: Relation[];
  /** Links that the policy looks for and that are not there. */
  missingRelations: MissingRelation[];
  consents: PersonConsent[];
  missingConsents: MissingFact[];
  /** The first rule that could have allowed, and what would make it: evaluated by the server, so it is true. */
  advice?: { rule: WhyNotRule; facts: MissingFact[] };
};

const entity = (value: unknown): Entity | undefined => {
  if (typeof value !== 'object' || value === null) return undefined;
  const { type, id } = value as Record<string, unknown>;
  if (typeof type !== 'string' && typeof id !== 'string') return undefined;
  return { ...(typeof type === 'string' ? { type } : {}), ...(typeof id === 'string' ? { id } : {}) };
};
export const entityText = ({ type, id }: Entity) => [type, id].filter((one) => one !== undefined).join(':');
const same = (a: Entity | undefined, b: Entity | undefined) => a?.id === b?.id && a?.type === b?.type;
const textOf = (value: unknown) => (typeof value === 'string' ? value : (value as { name?: string } | undefined)?.name);

export const stepText = ({ from, relationshipType, to }: Step) =>
  `${entityText(from)} ${relationshipType} ${entityText(to)}`;

/** A link by its ends, as those that are there are drawn; the server's words for anything else. */
export const factText = ({ relationship, text }: MissingFact) =>
  relationship?.relationshipType === undefined
    ? text
    : stepText({ ...relationship, relationshipType: relationship.relationshipType });

/** All rules of a whyNot, with those that their conditions ask. */
function* allRules(rules: readonly WhyNotRule[]): Generator<WhyNotRule> {
  for (const rule of rules) {
    yield rule;
    for (const condition of conditionsOf(rule)) yield* allRules(condition.because ?? []);
  }
}
export const conditionsOf = (rule: WhyNotRule) => [
  ...(rule.condition === undefined ? [] : [rule.condition]),
  ...(rule.conditions ?? []),
];

/** Whether the conditions that decided the answer of a drawn node hold. Its text says how they are taken together. */
export const decidedByHolding = ({ text, answer }: WhyNotRule) => text.startsWith('none ') !== (answer === 'true');

type Ends = { relationshipType: string; to: Entity; from: Entity };
/** What somebody typed into a question may be anything: only what has the shape of a relationship is drawn. */
const linksOf = (list: unknown, end: 'to' | 'from'): Ends[] =>
  (Array.isArray(list) ? list : []).filter(
    (one) => typeof one?.relationshipType === 'string' && entity(one[end]) !== undefined,
  );
const consentsIn = (list: unknown): Consent[] =>
  (Array.isArray(list) ? list : []).filter((one) => typeof one?.name === 'string');

function relationsOf({ input, facts, ...shown }: Explanation, subject?: Entity, resource?: Entity): Relation[] {
  // Support is given the paths between the two, and no facts.
  if (facts === undefined)
    return (shown.inherited ?? []).map(({ relationship, ...path }) => ({ ...relationship, lit: true, path }));
  const given = input?.graph as { subject?: unknown; resource?: unknown } | null | undefined;
  const isEmpty = !facts.graph?.subject?.length && !facts.graph?.resource?.length;
  const graph = (isEmpty ? given : facts.graph) ?? {};
  const of = [
    ...linksOf(graph.subject, 'to').map(({ relationshipType, to }) => ({ from: subject ?? {}, relationshipType, to })),
    ...linksOf(graph.resource, 'from').map(({ relationshipType, from }) => ({
      from,
      relationshipType,
      to: resource ?? {},
    })),
  ];
  const found = new Map<string, Relation>();
  for (const one of of) {
    const inherited = facts.inherited?.find(({ relationship }) => stepText(relationship) === stepText(one));
    const lit = same(one.from, subject) && same(one.to, resource);
    found.set(stepText(one), { ...one, lit, ...(inherited && { path: inherited }) });
  }
  return [...found.values()].sort((a, b) => Number(b.lit) - Number(a.lit));
}

/** Of any of several types that would do. */
function pathsOf({ relationship }: MissingFact, known: readonly Inherited[] = []): MissingRelation['paths'] {
  const { from = {}, to = {}, relationshipType, alternatives = [] } = relationship ?? {};
  const names = relationshipType === undefined ? alternatives : [relationshipType];
  const said = names.map((name) => stepText({ from, relationshipType: name, to }));
  return known.filter((one) => said.includes(stepText(one.relationship)));
}

export const pathsIn = ({ facts, missingPaths = [] }: Explanation): KnownPaths => ({
  inherited: facts?.inherited ?? [],
  missing: missingPaths,
});

/** An explanation of a question that somebody put together, with what was found for its facts: only what it names is drawn. */
export function withPaths(explain: Explanation, known: KnownPaths | undefined): Explanation {
  if (known === undefined || explain.facts === undefined) return explain;
  const { inherited, missing } = known;
  return { ...explain, facts: { ...explain.facts, inherited }, missingPaths: missing };
}

function consentsOf({ input, facts }: Explanation, subject?: Entity): PersonConsent[] {
  const given = consentsIn(input?.consents);
  const own = facts?.consents?.length ? facts.consents : given;
  const listed: unknown = facts?.dataSubjects ?? input?.dataSubjects;
  const others = (Array.isArray(listed) ? listed : []).flatMap((person) =>
    consentsIn(person?.consents).map((one) => ({ ...one, person: entity(person) ?? {} })),
  );
  return [...own.map((one) => ({ ...one, ...(subject && { person: subject }) })), ...others];
}

export function whyOf(answer: Answer, explain: Explanation): Why {
  const { input = {}, whyNot } = explain;
  const subject = entity(input.subject);
  const resource = entity(input.resource);
  const action = textOf(input.action);
  const rules = [...allRules(whyNot?.rules ?? [])];
  const missing = rules.flatMap((rule) => conditionsOf(rule).flatMap((one) => one.missing ?? []));
  const lacking = (explain.missingConsents ?? []).map(({ type, id, name, status }) => ({
    consent: { name, status, subject: { type, id } },
    text: `${type}:${id} ${name} (${status})`,
  }));
  const unique = (facts: MissingFact[], key: (fact: MissingFact) => string) => [
    ...new Map(facts.map((one) => [key(one), one])).values(),
  ];
  const consentKey = ({ consent }: MissingFact) => `${consent?.name} ${entityText(consent?.subject ?? {})}`;
  const adviser = rules.find((rule) => rule.wouldAllowIf !== undefined && rule.wouldAllowIf.length > 0);
  const { outcome } = answer;
  return {
    outcome: outcome === 'allow' || outcome === 'deny' ? outcome : 'other',
    ...(subject && { subject }),
    ...(resource && { resource }),
    ...(action !== undefined && { action }),
    relations: relationsOf(explain, subject, resource),
    missingRelations: unique(
      missing.filter((one) => one.relationship !== undefined),
      (one) => one.text,
    ).map((one) => ({ ...one, paths: pathsOf(one, explain.missingPaths) })),
    consents: consentsOf(explain, subject),
    missingConsents: unique([...lacking, ...missing.filter((one) => one.consent !== undefined)], consentKey),
    ...(adviser?.wouldAllowIf && { advice: { rule: adviser, facts: adviser.wouldAllowIf } }),
  };
}
