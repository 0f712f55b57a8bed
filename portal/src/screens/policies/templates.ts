import type { Ends } from '../../editor/completion.ts';

/** Of who asks in a question that nobody has filled in. */
export const firstSubjectType = 'user';

/** What a new policy begins with. */
export const packageOf = (name: string) =>
  name
    .split(/[^A-Za-z0-9_]+/)
    .filter(Boolean)
    .map((part) => (/^\d/.test(part) ? `_${part}` : part))
    .join('.') || 'policy';

export const templateNames = ['deny', 'related', 'consent', 'owner', 'drawn'] as const;
export type TemplateName = (typeof templateNames)[number];

/**
 * One that can be from whom the first question is about: a policy that looks for another one denies everybody.
 * Best is one to what the name of the policy says.
 */
export function relationshipFor(policy: string, related: readonly Ends[]): string | undefined {
  const words = policy.split(/[:.]/);
  const own = related.filter(({ from }) => from === firstSubjectType);
  return (own.find(({ to }) => words.includes(to)) ?? own[0] ?? related[0])?.relation;
}

const looksFor = (relationship = 'drives') => `outcome := "allow" if {
	some link in input.graph.subject
	link.relationshipType == "${relationship}"
	link.to.type == input.resource.type
	link.to.id == input.resource.id
}`;
const bodies: Record<Exclude<TemplateName, 'drawn' | 'related'>, string> = {
  deny: `# Say here when it is allowed.
outcome := "allow" if false`,
  consent: `outcome := "allow" if agreed("share-data")

agreed(name) if {
	some consent in input.consents
	consent.name == name
	consent.sufficient
}`,
  owner: `outcome := "allow" if input.resource.owner == input.subject.id

reason := "only the owner may" if outcome == "deny"`,
};

export function templateOf(
  template: string | undefined,
  name: string,
  related: readonly Ends[] = [],
): { rego: string } | { graph: unknown } {
  if (template === 'drawn')
    return {
      graph: {
        nodes: [
          { id: 'start', type: 'start' },
          { id: 'denied', type: 'outcome', outcome: 'deny', reason: 'not decided yet' },
        ],
        edges: [{ from: 'start', to: 'denied' }],
      },
    };
  const body =
    template === 'related'
      ? looksFor(relationshipFor(name, related))
      : (bodies[(template ?? 'deny') as keyof typeof bodies] ?? bodies.deny);
  return { rego: `package ${packageOf(name)}\n\ndefault outcome := "deny"\n\n${body}\n` };
}
