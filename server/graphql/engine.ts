/**
 * Runs documents: parse, validate, judge what it may cost, execute. Imported at the first query only, because with the schema
 * and the library it takes 0.2 s and 30 MB that a server without such queries does not spend.
 */
import { execute } from 'grafast';
import {
  type DocumentNode,
  type GraphQLError,
  Kind,
  lexicographicSortSchema,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  printSchema,
  specifiedRules,
  validate,
} from 'grafast/graphql';
import { LRUCache } from 'lru-cache';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { boundSelections, rowsOf } from './cost.ts';
import { problemOfErrors } from './errors.ts';
import { placeOf } from './place.ts';
import { graphqlProblem } from './problems.ts';
import { schema } from './schema.mjs';

type Parsed = { readonly document: DocumentNode; readonly operation: OperationDefinitionNode };
type Variables = Record<string, unknown>;
/** A document that may be run, with its variables. `rows`: how many it could answer. */
export type Judged = Parsed & { readonly variables: Variables; readonly rows: number };

// A plan is kept as long as its document, and takes 0.2 MB.
schema.extensions = {
  ...schema.extensions,
  grafast: {
    ...schema.extensions.grafast,
    operationsCacheMaxLength: limits.graphqlDocumentsKept,
    operationOperationPlansCacheMaxLength: 2,
  },
};
const resolvedPreset: GraphileConfig.ResolvedPreset = {
  ...{ plugins: [], disablePlugins: [], lib: { version: '' } as never },
  grafast: { timeouts: { planning: limits.graphqlPlanMsMax }, maxPlanningDepth: 12 * limits.graphqlDepthMax },
};
const rules = [...specifiedRules, NoSchemaIntrospectionCustomRule];
const kept = new LRUCache<string, Parsed>({ max: limits.graphqlDocumentsKept });

/** The schema in GraphQL's own language. */
export const schemaText = (): string => printSchema(lexicographicSortSchema(schema));

/** Whether a document was judged before, and not so many others since. */
export const isKept = (source: string): boolean => kept.has(source);

/** @throws Problem graphql_invalid, graphql_too_expensive */
export function judge(source: string, variables: Variables): Judged {
  const parsed = kept.get(source) ?? parsedOf(source);
  kept.set(source, parsed);
  return { ...parsed, variables, rows: rowsOf(schema, parsed.operation, variables) };
}

/** @throws Problem graphql_invalid, graphql_too_expensive */
function parsedOf(source: string): Parsed {
  let document: DocumentNode;
  try {
    document = parse(source, { maxTokens: limits.graphqlTokensMax });
  } catch (error) {
    throw invalid([error as GraphQLError]);
  }
  const [operation, another] = document.definitions;
  // Before validation, whose rules on fragments take the square of how many there are.
  if (operation?.kind !== Kind.OPERATION_DEFINITION || operation.operation !== 'query' || another !== undefined) {
    throw graphqlProblem('graphql_invalid', { detail: 'The document has to be one query, without named fragments.' });
  }
  boundSelections(operation);
  const errors = validate(schema, document, rules, { maxErrors: 5 });
  if (errors.length > 0) throw invalid(errors);
  return { document, operation };
}

function invalid(errors: readonly GraphQLError[]) {
  const places = errors.map(({ message, locations }) => placeOf(message, locations?.[0]));
  return graphqlProblem('graphql_invalid', { detail: places.map((place) => place.detail).join(' '), errors: places });
}

/**
 * @param tx in the role of a reader
 * @param gone no statement begins after it
 * @returns the answer as JSON
 * @throws Problem
 */
export async function run(tx: Transaction, { document, variables }: Judged, gone: AbortSignal): Promise<string> {
  const query = async ({ text, values }: { text: string; values?: readonly unknown[] }) => {
    if (gone.aborted) throw problem('client_closed_request');
    const rows = await tx.texts(text, values ?? []);
    return { rows, rowCount: rows.length, notices: [] };
  };
  const withPgClient = (_settings: unknown, callback: (client: unknown) => unknown) => callback({ query });
  const result = await execute({
    schema,
    document,
    variableValues: variables,
    contextValue: { pgSettings: null, withPgClient },
    resolvedPreset,
    requestContext: {},
    outputDataAsString: true,
  });
  if (Symbol.asyncIterator in result) throw new Error('an answer in parts');
  const { data, errors } = result as { data?: unknown; errors?: readonly GraphQLError[] };
  if (errors !== undefined && errors.length > 0) throw problemOfErrors(errors);
  return `{"data":${typeof data === 'string' ? data : JSON.stringify(data ?? null)}}`;
}
