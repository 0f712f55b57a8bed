/**
 * The facts room: what a decision needs from records, gathered in one step before the pure `decide`. It owns no table; it
 * reads those of the relationships room in one query, and the consents room adds its own beside it, so that a faster index
 * can stand behind this interface later.
 */
export { factsNeeded } from './needed.ts';
export { factsRoom } from './room.ts';
export {
  type ConsentFact,
  type Facts,
  type FactsNeeded,
  type FactsQuestion,
  type FactsSource,
  type InvitationFact,
  noFacts,
  type SubjectRelationship,
} from './schema.ts';
export { sharedSide } from './shared.ts';
export { FactsFromDatabase } from './source.ts';
export { stepsOf, type Ways, waysOf } from './ways.ts';
