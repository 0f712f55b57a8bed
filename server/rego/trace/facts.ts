/** A lack as a fact: what it is for people, and the input that has it. */
import { at, hasItem, type Lack, type Needs } from './lacks.ts';
import type { MissingEntity, MissingFact } from './schema.ts';

type Json = Record<string, unknown>;

/** `consentingType`: the type of the actors that have consents; absent: any may have. */
export type Consenting = { readonly consentingType?: string };

/** The relationship or the consents that are not there. A consent of several people is as many facts. */
export function factsOf(lack: Lack, input: unknown, consenting: Consenting = {}): MissingFact[] {
  const consent = (of: unknown, who: MissingEntity) => consentOf(lack, who, listAt(of, 'consents'), consenting);
  if (lack.of === 'consents') return [consent(input, entityAt(input, 'subject'))];
  if (lack.of !== 'dataSubjects') return [relationshipOf(lack, input)];
  return listAt(input, 'dataSubjects')
    .filter((one) => !hasItem(listAt(one, 'consents'), lack.needs))
    .map((one) => consent(one, entityAt(one, '')));
}

/** Those of them that can come to be there. */
export function possibleFactsOf(lack: Lack, input: unknown, consenting: Consenting): MissingFact[] {
  return factsOf(lack, input, consenting).filter(({ consent }) => consent?.status !== NOT_APPLICABLE);
}

const NOT_APPLICABLE = 'not_applicable';

/** An actor that does not say its type has the one that has consents. */
function mayConsent(who: unknown, { consentingType }: Consenting): boolean {
  const type = at(who, 'type');
  return consentingType === undefined || type === undefined || type === consentingType;
}

function relationshipOf({ of, needs }: Lack, input: unknown): MissingFact {
  const names = needs.get('relationshipType') ?? needs.get('type') ?? [];
  const [relationshipType] = names.filter((name) => typeof name === 'string');
  const needed = (side: string, near: MissingEntity): MissingEntity => {
    const id = first(needs, `${side}.id`);
    return entity(first(needs, `${side}.type`) ?? (id === undefined || id !== near.id ? undefined : near.type), id);
  };
  const [subject, resource] = [entityAt(input, 'subject'), entityAt(input, 'resource')];
  const from = of === 'subject' ? subject : needed('from', subject);
  const to = of === 'subject' ? needed('to', resource) : resource;
  const relationship = {
    ...(relationshipType === undefined ? {} : { relationshipType }),
    ...(names.length > 1 ? { alternatives: names.map(String) } : {}),
    ...{ from, to },
  };
  const verb = names.length === 0 ? 'related to' : names.join(' or ');
  const text = `${entityText(from)} ${/^(is|has)_/.test(verb) ? verb : `is ${verb}`} ${entityText(to)}`;
  return { relationship, text };
}

function consentOf(
  { needs }: Lack,
  subject: MissingEntity,
  list: readonly unknown[],
  consenting: Consenting,
): MissingFact {
  const name = textOf(first(needs, 'name'));
  if (!mayConsent(subject, consenting)) {
    const consent = { ...(name === undefined ? {} : { name }), subject, status: NOT_APPLICABLE };
    const only = `only actors of the type ${consenting.consentingType} have consents`;
    return { consent, text: `${entityText(subject)} cannot agree to ${name ?? 'something'}: ${only}` };
  }
  const now = list.find((one) => at(one, 'name') === name);
  const status = textOf(at(now, 'status')) ?? 'required';
  const consent = { ...(name === undefined ? {} : { name }), subject, status };
  return { consent, text: `${entityText(subject)} agrees to ${name ?? 'something'} (status now: ${status})` };
}

/** The input as it would be with what is lacking, as far as it can be. */
export function inputWith(input: unknown, lacks: readonly Lack[], consenting: Consenting = {}): unknown {
  return lacks.reduce<unknown>((before, lack) => withOne(before, lack, consenting), input);
}

function withOne(input: unknown, { of, needs }: Lack, consenting: Consenting): unknown {
  const made: Json = {};
  for (const [path, [value]] of needs) put(made, path.split('.'), value);
  const all = input as Json;
  if (of === 'consents' && !mayConsent(all.subject, consenting)) return input;
  if (of === 'consents') return { ...all, consents: withConsent(listAt(input, 'consents'), made) };
  if (of === 'dataSubjects') {
    const subjects = listAt(input, 'dataSubjects').map((one) => {
      const list = listAt(one, 'consents');
      return hasItem(list, needs) || !mayConsent(one, consenting)
        ? one
        : { ...(one as Json), consents: withConsent(list, made) };
    });
    return { ...all, dataSubjects: subjects };
  }
  const [far, other] = of === 'subject' ? (['to', 'resource'] as const) : (['from', 'subject'] as const);
  const name = made.relationshipType ?? made.type;
  const entry: Json = { type: name, relationshipType: name, ...made };
  const near = all[other] as Json | undefined;
  const end = (entry[far] ?? {}) as Json;
  // Whatever else is known of the other end is known of it here, too.
  if (near !== undefined && (end.id ?? near.id) === near.id && (end.type ?? near.type) === near.type)
    entry[far] = { ...near, ...end };
  const graph = (all.graph ?? {}) as Json;
  return { ...all, graph: { ...graph, [of]: [...listAt(graph, of), entry] } };
}

function withConsent(list: readonly unknown[], made: Json): unknown[] {
  const others = list.filter((one) => at(one, 'name') !== made.name);
  return [...others, { status: 'active', sufficient: true, ...made }];
}

function put(object: Json, [name, ...rest]: readonly string[], value: unknown): void {
  if (name === undefined) return;
  if (rest.length === 0) {
    object[name] = value;
    return;
  }
  const inner = (object[name] ?? {}) as Json;
  object[name] = inner;
  put(inner, rest, value);
}

const first = (needs: Needs, path: string): unknown => needs.get(path)?.[0];

function listAt(value: unknown, path: string): unknown[] {
  const list = at(value, path);
  return Array.isArray(list) ? list : [];
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const entityAt = (value: unknown, path: string): MissingEntity =>
  entity(at(at(value, path), 'type'), at(at(value, path), 'id'));

function entity(type: unknown, id: unknown): MissingEntity {
  return { ...(typeof type === 'string' ? { type } : {}), ...(typeof id === 'string' ? { id } : {}) };
}

function entityText({ type, id }: MissingEntity): string {
  if (id === undefined) return type === undefined ? 'something' : `any ${type}`;
  return type === undefined ? id : `${type}:${id}`;
}
