/**
 * The facts room: what a decision is given. It says what a policy needs, has it read by the rooms that have the records, and
 * makes the policy's input of it.
 */
export { FactGatherer, type FactsSource } from './gather.ts';
export { inputFor, type PolicyInput } from './input.ts';
export { type Needs, needsOf, needsOfExplained, recordsOnly } from './needs.ts';
export { factsRoom } from './room.ts';
export {
  type ConsentFact,
  type DataSubject,
  type Denial,
  type FactReaders,
  type Facts,
  type FactsQuery,
  type HoldersFound,
  type HoldersQuery,
  type InheritedPath,
  type InvitationFact,
  noFacts,
  type RecordsQuery,
  type Step,
  type SubjectRelationship,
} from './schema.ts';
export { sharedSide } from './shared-side.ts';
