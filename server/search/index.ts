/**
 * The search room: what a subject may do, to which entities, and who may. Candidates come from Postgres in the order of
 * their ids, and each is checked by the decision that POST /authz would make. It has no table; the
 * relationships room lists the candidates.
 */
export { type ChargeRate, type SearchServices, searchEntities, searchPolicies } from './actions.ts';
export { searchRoom } from './room.ts';
export type { Found } from './schema.ts';
