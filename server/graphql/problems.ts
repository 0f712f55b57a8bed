import { defineProblems } from '../core/problems.ts';

export const graphqlProblem = defineProblems({
  graphql_invalid: {
    status: 400,
    title: 'Invalid GraphQL',
    when: 'The GraphQL document does not parse, does not fit the schema, or is not one query. `errors` has line and column.',
  },
  graphql_too_expensive: {
    status: 400,
    title: 'GraphQL query too expensive',
    when: 'The answer could have more rows, values, lists or levels than a request may ask for, the document has too many fields, or a list states no `first`.',
  },
  graphql_too_slow: {
    status: 400,
    title: 'GraphQL query too slow',
    when: 'The query was ended because it took too long. Ask for less, or filter by more.',
  },
  graphql_document_unknown: {
    status: 404,
    title: 'Unknown GraphQL document',
    when: 'The server has no GraphQL document with this name.',
  },
  graphql_busy: {
    status: 503,
    title: 'Too many GraphQL queries',
    when: 'Too many GraphQL queries of the tenant wait for their turn on this server.',
    retryAfterSeconds: 1,
  },
});
