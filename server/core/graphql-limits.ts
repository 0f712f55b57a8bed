/** The bounds of GraphQL, a part of limits.ts. A page has at most pageItemsMax rows. */
export const graphqlLimits = {
  graphqlBodyBytesMax: 32 * 1024,
  graphqlTokensMax: 2000, // of a document's text
  graphqlDepthMax: 10, // of fields within fields
  graphqlSelectionsMax: 150, // fields in a document's text, which planning takes time for
  graphqlConnectionsMax: 10, // lists and single objects that a document asks for
  graphqlRowsMax: 2000, // that an answer could have; those of lists within lists multiply
  graphqlValuesMax: 40_000, // that an answer could have; a source or a JSON value counts as graphqlLongValueItems
  graphqlLongValueItems: 200,
  graphqlRequestRowsMax: 200, // more rows count as so many more requests
  graphqlNewDocumentRequests: 100, // a document that is not kept counts as so many: it is parsed, validated and planned
  graphqlStatementMs: 3000,
  graphqlPoolMax: 4, // connections of a server, of which a tenant has at most half
  graphqlWaitingMax: 16, // requests of a tenant that wait for a connection; further ones are refused
  graphqlDocumentsKept: 20, // with their plans, of which one takes 0.2 MB
  graphqlPlanMsMax: 2000,
} as const;
