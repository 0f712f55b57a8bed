/** A member's query: which document, what it may cost, whose rows. */
import type { Role } from '../core/auth/schema.ts';
import type { Database } from '../core/db/database.ts';
import type { KeyedSemaphore } from '../core/keyed-semaphore.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { documents } from './documents.ts';
import { graphqlProblem } from './problems.ts';

export type GraphqlServices = { database: Database; turns: KeyedSemaphore };
export type GraphqlQuery = { query?: string; document?: string; variables?: Record<string, unknown> };
type Asked = {
  tenant: string;
  role: Role;
  /** Counts that the request stands for so many more. @throws Problem rate_limited */
  countMore: (requests: number) => void;
  gone: AbortSignal;
};

/** Whose queries may be their own, and not only those of documents.ts. */
const askingRoles: ReadonlySet<Role> = new Set<Role>(['security-admin', 'config-editor']);

/**
 * @returns the answer as JSON
 * @throws Problem
 */
export async function answerQuery(services: GraphqlServices, asked: Asked, body: GraphqlQuery): Promise<string> {
  const { tenant, role, gone, countMore } = asked;
  const source = sourceOf(body, role);
  const { isKept, judge, run } = await loadEngine();
  // Before it is parsed, so that one that is refused counts, too. Those of the server are few, and are planned once.
  if (body.document === undefined && !isKept(source)) countMore(limits.graphqlNewDocumentRequests - 1);
  const judged = judge(source, body.variables ?? {});
  const ofRows = Math.ceil(judged.rows / limits.graphqlRequestRowsMax) - 1; // the access hook counted one
  if (ofRows > 0) countMore(ofRows);
  if (services.turns.waiting(tenant) >= limits.graphqlWaitingMax) throw graphqlProblem('graphql_busy');
  return services.turns.run(tenant, () => {
    if (gone.aborted) throw problem('client_closed_request');
    return services.database.reader(tenant, role, (tx) => run(tx, judged, gone));
  });
}

export function loadEngine(): Promise<typeof import('./engine.ts')> {
  // biome-ignore lint/style/noProcessEnv: the library reads it when it is loaded, plans slower in development, and says so on stderr
  process.env.GRAPHILE_ENV ??= 'production';
  return import('./engine.ts');
}

/** @throws Problem invalid_request, forbidden, graphql_document_unknown */
function sourceOf({ query, document }: GraphqlQuery, role: Role): string {
  if ((query === undefined) === (document === undefined)) {
    const detail = 'The body has either query or document.';
    throw problem('invalid_request', { detail, errors: [{ pointer: '', detail }] });
  }
  if (document === undefined) {
    if (askingRoles.has(role)) return query as string;
    throw problem('forbidden', { detail: `The role ${role} may ask for documents by name only.` });
  }
  const source = Object.hasOwn(documents, document) ? documents[document] : undefined;
  if (source !== undefined) return source;
  const detail = `There are ${Object.keys(documents).join(', ')}.`;
  throw graphqlProblem('graphql_document_unknown', { detail, errors: [{ pointer: '/document', detail }] });
}
