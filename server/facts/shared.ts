/**
 * Owns reading once what many questions have in common: all relationships of one subject, or of one resource, where a search
 * asks about it and many others, and the policy looks at all of them.
 */
import type { Facts, FactsQuestion, FactsSource } from './schema.ts';

/**
 * A source for questions at one instant, by policies of one snapshot, that have this subject (or resource) in common.
 * @param side whose relationships are read once
 */
export function sharedSide(source: FactsSource, side: 'subject' | 'resource'): FactsSource {
  let common: Promise<Facts> | undefined;
  return {
    gather(question) {
      const { needed } = question;
      if (!needed[side] || needed.uses?.[side] !== undefined) return source.gather(question);
      common ??= Promise.resolve(source.gather(only(question, side)));
      return common.then(async (shared) => {
        if (shared.tooLarge !== undefined) return shared;
        const own = await source.gather({ ...question, needed: { ...needed, [side]: false } });
        return { ...own, graph: { ...own.graph, [side]: shared.graph[side] } };
      });
    },
  };
}

function only(question: FactsQuestion, side: 'subject' | 'resource'): FactsQuestion {
  const nothing = {
    subject: false,
    resource: false,
    consents: false,
    subjectAttributes: false,
    resourceAttributes: false,
  };
  return { ...question, needed: { ...nothing, [side]: true } };
}
