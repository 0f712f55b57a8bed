import type { GraphQLSchema } from 'grafast/graphql';

export const schema: GraphQLSchema;
