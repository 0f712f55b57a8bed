/**
 * Reading once what many questions have in common: all relationships of one subject, or of one resource, where a search asks
 * about it and many others, and the policy looks at all of them.
 */
import type { FactsSource } from './gather.ts';
import { type Needs, needsOf } from './needs.ts';
import type { Facts } from './schema.ts';

/**
 * A source for questions at one instant, by policies of one snapshot, that have this subject (or resource) in common.
 * @param side whose relationships are read once
 */
export function sharedSide(source: FactsSource, side: 'subject' | 'resource'): FactsSource {
  let common: Promise<Facts> | undefined;
  return {
    gather(snapshot, question, needs) {
      const { records } = needs;
      if (!records?.[side] || records.uses?.[side] !== undefined) return source.gather(snapshot, question, needs);
      common ??= Promise.resolve(source.gather(snapshot, question, onlyOf[side]));
      return common.then(async (shared) => {
        if (shared.tooLarge !== undefined) return shared;
        const others = { ...needs, records: { ...records, [side]: false } };
        const own = await source.gather(snapshot, question, others);
        return { ...own, graph: { ...own.graph, [side]: shared.graph[side] } };
      });
    },
  };
}

const none = { subject: false, resource: false, subjectAttributes: false, resourceAttributes: false };
const { input } = needsOf({ all: false, paths: [] });
const onlyOf: Record<'subject' | 'resource', Needs> = {
  subject: { input, records: { ...none, subject: true } },
  resource: { input, records: { ...none, resource: true } },
};
