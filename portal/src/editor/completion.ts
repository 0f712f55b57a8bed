/** What can be written at the cursor: paths of the input, and names that the tenant has. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { builtins, keywords } from './rego-language.ts';

/** What the tenant's policies can name. */
export type Vocabulary = {
  /** Entity types and actor types. */
  types: readonly string[];
  /** Relationships, without their ends. */
  relationships: readonly string[];
  consents: readonly string[];
  /** Names of policies. */
  actions: readonly string[];
  /** Paths of the input that is tried, such as input.resource.owner. */
  fields?: readonly string[];
};
export const noVocabulary: Vocabulary = { types: [], relationships: [], consents: [], actions: [] };

const fieldsMax = 200;

/** The paths of an input below its own members. */
export function fieldsOf(input: unknown, path = 'input', depth = 0): string[] {
  if (typeof input !== 'object' || input === null || depth > 5) return [];
  // Entries of a list are alike.
  if (Array.isArray(input)) return fieldsOf(input[0], path, depth + 1);
  return Object.entries(input)
    .filter(([name]) => /^[A-Za-z_]\w*$/.test(name))
    .flatMap(([name, value]) => [`${path}.${name}`, ...fieldsOf(value, `${path}.${name}`, depth + 1)])
    .slice(0, fieldsMax);
}

/** As docs/policies.md lists them. */
const paths: readonly [path: string, about: string][] = [
  ['input.subject', 'who asks'],
  ['input.subject.type', 'the actor type'],
  ['input.subject.id', 'the id'],
  ['input.resource', 'what it is about'],
  ['input.resource.type', 'the type'],
  ['input.resource.id', 'the id'],
  ['input.context', 'as in the request'],
  ['input.action', 'the name of the policy'],
  ['input.tenant', 'the code of the tenant'],
  ['input.time', 'the instant of the request'],
  ['input.graph.subject', 'relationships of the subject: relationshipType, to'],
  ['input.graph.resource', 'relationships to the resource: relationshipType, from'],
  ['input.consents', 'what the subject has agreed to: name, version, status, sufficient'],
  ['input.dataSubjects', 'whom the data is about: type, id, consents'],
  ['input.invitation', 'the invitation that the request is about'],
];
const members = ['relationshipType', 'sufficient', 'status', 'version', 'consents', 'name', 'type', 'id', 'to', 'from'];

const option = (label: string, type: string, detail?: string): Completion => ({
  label,
  type,
  ...(detail && { detail }),
});
const ofInput = paths.map(([path, about]) => option(path, 'property', about));
const ofLanguage = [
  ...keywords.map((one) => option(one, 'keyword')),
  ...builtins.map((one) => option(one, 'function')),
];
const ofMembers = members.map((one) => option(one, 'property'));

/** @param read the names that the tenant has now; they arrive after the editor */
export const completeRego =
  (read: () => Vocabulary) =>
  (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    if (/^\s*#/.test(before)) return null;
    const text = /"([^"\\]*)$/.exec(before);
    // An odd number of quotes: the cursor is inside of a text.
    if (text && (before.split('"').length - 1) % 2 === 1)
      return {
        from: context.pos - (text[1]?.length ?? 0),
        options: named(read(), before.slice(0, text.index)),
        validFor: /^[^"\\]*$/,
      };
    const fields = read().fields ?? [];
    const path = /\binput(?:\.\w*)+$/.exec(before);
    if (path)
      return { from: context.pos - path[0].length, options: [...ofInput, ...ofFields(fields)], validFor: /^[\w.]*$/ };
    const member = /[\w\])]\.(\w*)$/.exec(before);
    if (member) return { from: context.pos - (member[1]?.length ?? 0), options: membersOf(fields), validFor: /^\w*$/ };
    const word = context.matchBefore(/[A-Za-z_]\w*/);
    if (!word && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options: [...ofInput, ...ofLanguage], validFor: /^\w*$/ };
  };

const known = new Set([...paths.map(([path]) => path), ...members]);
const ofFields = (fields: readonly string[]): Completion[] =>
  fields.filter((one) => !known.has(one)).map((one) => option(one, 'property', 'in the question'));

function membersOf(fields: readonly string[]): Completion[] {
  const last = new Set(fields.map((one) => one.slice(one.lastIndexOf('.') + 1)));
  const own = [...last].filter((one) => !known.has(one));
  return [...ofMembers, ...own.map((one) => option(one, 'property', 'in the question'))];
}

/** What a text is compared with goes first. @param before the line before the text */
function named({ types, relationships, consents, actions }: Vocabulary, before: string): Completion[] {
  const [, compared = ''] = /(\w+)\s*(?:==|!=|:=|=)\s*$/.exec(before) ?? [];
  const of = (names: readonly string[], type: string, detail: string, places: RegExp) =>
    names.map((one) => ({ ...option(one, type, detail), boost: places.test(compared) ? 50 : 0 }));
  return [
    ...of(['allow', 'deny'], 'constant', 'outcome', /^outcome$/),
    ...of(relationships, 'interface', 'relationship', /^relationshipType$/),
    ...of(types, 'class', 'type', /^type$/),
    ...of(consents, 'text', 'consent', /^name$/),
    ...of(actions, 'constant', 'action', /^action$/),
  ];
}
