/** The question that is tried: fields of a form, or the whole input as JSON. */
import { useQuery } from '@tanstack/react-query';
import type { TenantApi } from '../../core/api.ts';
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { noVocabulary, type Vocabulary } from '../../editor/completion.ts';

type JsonObject = Record<string, unknown>;
export type Question = {
  mode: 'form' | 'json';
  subjectType: string;
  subjectId: string;
  resourceType: string;
  resourceId: string;
  /** JSON texts: what the request brings besides, and what the policy is given beside the request. */
  context: string;
  facts: string;
  /** The whole input, in mode json. */
  json: string;
};
/** An input, or which field is no JSON object. */
export type Input = { input: JsonObject } | { field: 'context' | 'facts' | 'json'; detail: string };

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function objectOf(text: string): JsonObject | string {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : 'not an object';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const entity = (type: string, id: string) => ({ ...(type && { type }), ...(id && { id }) });

export function inputOf(question: Question, action: string, tenant: string): Input {
  if (question.mode === 'json') {
    const input = objectOf(question.json);
    return typeof input === 'string' ? { field: 'json', detail: input } : { input };
  }
  const [context, facts] = [objectOf(question.context), objectOf(question.facts)];
  if (typeof context === 'string') return { field: 'context', detail: context };
  if (typeof facts === 'string') return { field: 'facts', detail: facts };
  const { subjectType, subjectId, resourceType, resourceId } = question;
  const { subject, resource, ...rest } = facts;
  return {
    input: {
      subject: { ...entity(subjectType, subjectId), ...(isObject(subject) ? subject : {}) },
      action,
      resource: { ...entity(resourceType, resourceId), ...(isObject(resource) ? resource : {}) },
      context,
      tenant,
      ...{ graph: { subject: [], resource: [] }, consents: [], ...rest },
    },
  };
}

export const pretty = (value: unknown) => JSON.stringify(value, null, 2);

/** The same question as JSON, for one that is in the form. */
export const asJson = (question: Question, action: string, tenant: string): Question => {
  const given = inputOf({ ...question, mode: 'form' }, action, tenant);
  return { ...question, mode: 'json', json: 'input' in given ? pretty(given.input) : question.json };
};
export const ofInput = (question: Question, input: JsonObject): Question => ({
  ...question,
  mode: 'json',
  json: pretty(input),
});

/** @param subject `type/id`, as addresses of the portal have it */
export function ofPair(question: Question, subject: string | undefined, resource: string | undefined): Question {
  const parts = (text: string | undefined) => {
    const [type = '', ...id] = (text ?? '').split('/');
    return [type, id.join('/')] as const;
  };
  const [subjectType, subjectId] = parts(subject);
  const [resourceType, resourceId] = parts(resource);
  return { ...question, mode: 'form', subjectType, subjectId, resourceType, resourceId };
}

export function firstQuestion(policy: string, { types }: Vocabulary): Question {
  const words = policy.split(/[:.]/);
  // Until the types are there, the name of the policy alone tells: somebody may have typed the rest by then.
  const named = types.length === 0 && words.length > 1 ? words[0] : words.find((word) => types.includes(word));
  return {
    ...{ mode: 'form', subjectType: 'user', subjectId: 'alice', resourceType: named ?? '', resourceId: '' },
    ...{ context: '', facts: '', json: '' },
  };
}

type Ended = { relationshipType: string; to?: JsonObject; from?: JsonObject };
type Consent = { name: string; version: string; document: unknown; status: string };
const sufficient = ['given', 'valid', 'grace'];

/** What the tenant has stored of both ends, as a policy would be given it; inherited relationships are not among it. */
export async function storedFacts(api: TenantApi, question: Question): Promise<JsonObject> {
  const { subjectType, subjectId, resourceType, resourceId } = question;
  const related = async (kind: 'actors' | 'resources', type: string, id: string) => {
    if (type === '' || id === '') return [];
    const path = `/${kind}/${segment(type)}/${segment(id)}/relationships`;
    const { relationships } = (await api.get<{ relationships: Ended[] }>(path, { query: { limit: 200 } })).data;
    return relationships.map(({ relationshipType, to, from }) => ({
      ...{ type: relationshipType, relationshipType },
      ...(to ? { to } : { from }),
    }));
  };
  const agreed = async () => {
    if (subjectId === '') return [];
    const query = { userId: subjectId, limit: 200 };
    const { consents } = (await api.get<{ consents: Consent[] }>('/consents', { query })).data;
    return consents.map(({ name, version, document, status }) => ({
      ...{ name, version, document, status },
      sufficient: sufficient.includes(status),
    }));
  };
  const [subject, resource, consents] = await Promise.all([
    related('actors', subjectType, subjectId),
    related('resources', resourceType, resourceId),
    agreed(),
  ]);
  return { graph: { subject, resource }, consents };
}

/** The names that the tenant has, for completion. */
export function useVocabulary(): Vocabulary {
  const { tenant, api } = useTenant();
  const { data = noVocabulary } = useQuery({
    queryKey: ['policies', tenant.code, 'vocabulary'],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<Vocabulary> => {
      const names = async (path: string) => {
        const { data } = await api.get<{ resources?: string[] }>(path, { signal });
        return data.resources ?? [];
      };
      const [actors, resources, relationships, consents] = await Promise.all([
        names('/actor-types'),
        names('/resource-types'),
        names('/relationship-types'),
        names('/consent-definitions'),
      ]);
      const between = relationships.map((key) => key.split(':')[1] ?? key);
      return { types: [...new Set([...actors, ...resources])], relationships: [...new Set(between)], consents };
    },
  });
  return data;
}
