/** The question that is tried: fields of a form, or the whole input as JSON. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useTenant } from '../../core/session.ts';
import { noVocabulary, type Vocabulary } from '../../editor/completion.ts';
import { useModel } from '../../model/load.ts';
import { type Model, partsOf } from '../../model/shapes.ts';
import { type Explanation, type KnownPaths, pathsIn } from '../../why/index.ts';
import { firstSubjectType } from './templates.ts';

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
  /** Whose facts they are, where they were loaded. */
  factsOf?: string;
  /** The paths of inherited relationships, where they were loaded. */
  paths?: KnownPaths;
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
/** @param paths of relationships in the input, where the server told them */
export const ofInput = ({ paths: _, ...question }: Question, input: JsonObject, paths?: KnownPaths): Question => ({
  ...question,
  ...{ mode: 'json', json: pretty(input) },
  ...(paths && { paths }),
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
    ...{ mode: 'form', subjectType: firstSubjectType, subjectId: 'alice', resourceType: named ?? '', resourceId: '' },
    ...{ context: '', facts: '', json: '' },
  };
}

/** A form that does not say who, or with what. */
export const isIncomplete = ({ mode, subjectId, resourceId }: Question) =>
  mode === 'form' && (subjectId === '' || resourceId === '');

/** The two that it is about, as addresses of the portal have them. */
export const pairOf = ({ subjectType, subjectId, resourceType, resourceId }: Question) =>
  `${subjectType}/${subjectId} ${resourceType}/${resourceId}`;

/** What a decision about a question is asked with, where the form can say it. */
export function requestOf({ subjectType, subjectId, resourceType, resourceId, context }: Question) {
  const given = objectOf(context);
  return {
    subject: entity(subjectType, subjectId),
    resource: entity(resourceType, resourceId),
    ...(typeof given === 'string' ? {} : { context: given }),
  };
}

/** @param explain of it: what of the input the form does not ask become its facts */
export function withFacts(question: Question, explain: Explanation): Question {
  const { input = {} } = explain;
  const { subject, resource, context, action: _, tenant: __, ...rest } = input;
  const attributes = (of: unknown) => {
    const { type: _type, id: _id, ...more } = isObject(of) ? of : {};
    return Object.keys(more).length > 0 ? more : undefined;
  };
  const [own, its] = [attributes(subject), attributes(resource)];
  const facts = { ...(own && { subject: own }), ...(its && { resource: its }), ...rest };
  // An invitation came by a token in it, which the policy is not given.
  const told = 'invitation' in rest && isObject(context) ? { context: pretty(context) } : {};
  return { ...question, ...told, facts: pretty(facts), factsOf: pairOf(question), paths: pathsIn(explain) };
}

/** The names that the tenant has, for completion. */
export function useVocabulary(): Vocabulary {
  const { tenant, api } = useTenant();
  const model = useModel().data;
  const { data: named } = useQuery({
    queryKey: ['policies', tenant.code, 'vocabulary'],
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const names = async (path: string) => {
        const { data } = await api.get<{ resources?: string[] }>(path, { signal });
        return data.resources ?? [];
      };
      const [consents, actions] = await Promise.all([names('/consent-definitions'), names('/policies')]);
      return { consents, actions };
    },
  });
  return useMemo(() => (model && named ? { ...named, ...wordsOf(model) } : noVocabulary), [model, named]);
}

function wordsOf({ types, relationships }: Model) {
  const related = relationships.map(({ spec }) => partsOf(spec.name));
  const declared = types.flatMap(({ kind, spec: { name, attributes = {} } }) =>
    Object.keys(attributes).map((attribute) => ({
      path: `input.${kind === 'actor-types' ? 'subject' : 'resource'}.${attribute}`,
      of: name,
    })),
  );
  const byPath = Map.groupBy(declared, ({ path }) => path);
  return {
    related,
    types: [...new Set(types.map(({ spec }) => spec.name))],
    relationships: [...new Set(related.map(({ relation }) => relation))],
    attributes: [...byPath].map(([path, all]) => ({ path, of: all.map(({ of }) => of).join(', ') })),
  };
}
