/**
 * Reading once what many queries have in common: all relationships of one subject, or of one resource, where a search asks
 * about it and many others, and the policy looks at all of them; and the data subjects of one resource.
 */
import type { FactsSource } from './gather.ts';
import { type Needs, needsOf } from './needs.ts';
import type { Facts } from './schema.ts';

/**
 * A source for queries at one instant, by policies of one snapshot, that have this subject (or resource) in common.
 * @param side whose relationships are read once
 */
export function sharedSide(source: FactsSource, side: 'subject' | 'resource'): FactsSource {
  let ofSide: Promise<Facts> | undefined;
  const persons = new Map<unknown, Promise<Facts>>();
  return {
    gather(snapshot, query, needs) {
      const { records, dataSubjects, ...others } = needs;
      const isWhole = records?.[side] && records.uses?.[side] === undefined;
      const arePersons = side === 'resource' && dataSubjects && !dataSubjects.path?.startsWith('subject.');
      if (!isWhole && !arePersons) return source.gather(snapshot, query, needs);
      const read = (only: Needs) => Promise.resolve(source.gather(snapshot, query, only));
      if (isWhole) ofSide ??= read(onlyOf[side]);
      if (arePersons && !persons.has(dataSubjects)) persons.set(dataSubjects, read(personsOf(needs)));
      const own = {
        ...others,
        ...(records ? { records: isWhole ? { ...records, [side]: false } : records } : {}),
        ...(dataSubjects && !arePersons ? { dataSubjects } : {}),
      };
      const common = [isWhole ? ofSide : undefined, arePersons ? persons.get(dataSubjects) : undefined];
      return Promise.all(common).then(async ([shared, about]) => {
        const denied = [shared, about].find((facts) => facts?.denial !== undefined);
        if (denied !== undefined) return denied;
        const facts = await source.gather(snapshot, query, own);
        const graph = shared === undefined ? facts.graph : { ...facts.graph, [side]: shared.graph[side] };
        return { ...facts, graph, ...(about?.dataSubjects ? { dataSubjects: about.dataSubjects } : {}) };
      });
    },
  };
}

const none = { subject: false, resource: false, subjectAttributes: false, resourceAttributes: false };
const { input } = needsOf({ reads: { all: false, paths: [] } });
const onlyOf: Record<'subject' | 'resource', Needs> = {
  subject: { input, records: { ...none, subject: true } },
  resource: { input, records: { ...none, resource: true } },
};

/** The attributes of the resource, too: the path may lead to them. */
function personsOf({ dataSubjects, records }: Needs): Needs {
  const attributes = records?.resourceAttributes ? { records: { ...none, resourceAttributes: true } } : {};
  return { input, ...(dataSubjects ? { dataSubjects } : {}), ...attributes };
}
