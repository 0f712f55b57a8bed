/** GraphQL: what members read of a tenant, over views of their own. It owns no tables. */
export { graphqlRoom } from './room.ts';
