/** What can be written at the cursor: paths of the input, and names that the tenant has. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { builtins, keywords } from './rego-language.ts';
import { type EditorTexts, en } from './texts.en.ts';

/** What the tenant's policies can name. */
export type Vocabulary = {
  /** Entity types and actor types. */
  types: readonly string[];
  /** Relationships, without their ends. */
  relationships: readonly string[];
  consents: readonly string[];
  /** Names of policies. */
  actions: readonly string[];
  /** Relationship types with their ends. */
  related: readonly Ends[];
  /** That types declare: paths such as input.resource.plate, with the types. */
  attributes: readonly Attribute[];
  /** Paths of the input that is tried, such as input.resource.owner. */
  fields?: readonly string[];
};
export type Ends = { from: string; relation: string; to: string };
export type Attribute = { path: string; of: string };
export const noVocabulary: Vocabulary = {
  ...{ types: [], relationships: [], consents: [], actions: [] },
  ...{ related: [], attributes: [] },
};

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

const members = ['relationshipType', 'sufficient', 'status', 'version', 'consents', 'name', 'type', 'id', 'to', 'from'];

const option = (label: string, type: string, detail?: string): Completion => ({
  label,
  type,
  ...(detail && { detail }),
});
const ofInput = ({ paths }: EditorTexts) =>
  Object.entries(paths).map(([path, about]) => option(path, 'property', about));
const ofLanguage = [
  ...keywords.map((one) => option(one, 'keyword')),
  ...builtins.map((one) => option(one, 'function')),
];
const ofMembers = members.map((one) => option(one, 'property'));

/** @param read the names that the tenant has now; they arrive after the editor */
export const completeRego =
  (read: () => Vocabulary, t: EditorTexts) =>
  (context: CompletionContext): CompletionResult | null => {
    const line = context.state.doc.lineAt(context.pos);
    const before = line.text.slice(0, context.pos - line.from);
    if (/^\s*#/.test(before)) return null;
    const text = /"([^"\\]*)$/.exec(before);
    // An odd number of quotes: the cursor is inside of a text.
    if (text && (before.split('"').length - 1) % 2 === 1)
      return {
        from: context.pos - (text[1]?.length ?? 0),
        options: named(read(), t, before.slice(0, text.index)),
        validFor: /^[^"\\]*$/,
      };
    const fields = fieldsIn(read(), t);
    const path = /\binput(?:\.\w*)+$/.exec(before);
    if (path)
      return {
        from: context.pos - path[0].length,
        options: [...ofInput(t), ...ofFields(fields)],
        validFor: /^[\w.]*$/,
      };
    const member = /[\w\])]\.(\w*)$/.exec(before);
    if (member) return { from: context.pos - (member[1]?.length ?? 0), options: membersOf(fields), validFor: /^\w*$/ };
    const word = context.matchBefore(/[A-Za-z_]\w*/);
    if (!word && !context.explicit) return null;
    return { from: word?.from ?? context.pos, options: [...ofInput(t), ...ofLanguage], validFor: /^\w*$/ };
  };

const known = new Set([...Object.keys(en.paths), ...members]);
type Field = { path: string; about: string };

/** What the types declare, and what else the question has. */
function fieldsIn({ attributes, fields = [] }: Vocabulary, t: EditorTexts): Field[] {
  const declared = attributes.map(({ path, of }) => ({ path, about: t.attributeOf(of) }));
  const asked = fields.filter((path) => !attributes.some((one) => one.path === path));
  return [...declared, ...asked.map((path) => ({ path, about: t.inQuestion }))];
}

const ofFields = (fields: readonly Field[]): Completion[] =>
  fields.filter(({ path }) => !known.has(path)).map(({ path, about }) => option(path, 'property', about));

function membersOf(fields: readonly Field[]): Completion[] {
  const last = new Map(fields.map(({ path, about }) => [path.slice(path.lastIndexOf('.') + 1), about]));
  const own = [...last].filter(([name]) => !known.has(name));
  return [...ofMembers, ...own.map(([name, about]) => option(name, 'property', about))];
}

/** What a text is compared with goes first. @param before the line before the text */
function named(vocabulary: Vocabulary, t: EditorTexts, before: string): Completion[] {
  const { types, relationships, consents, actions } = vocabulary;
  const [, compared = ''] = /(\w+)\s*(?:==|!=|:=|=)\s*$/.exec(before) ?? [];
  const of = (names: readonly string[], type: string, detail: string, places: RegExp) =>
    names.map((one) => ({ ...option(one, type, detail), boost: places.test(compared) ? 50 : 0 }));
  return [
    ...of(['allow', 'deny'], 'constant', t.outcome, /^outcome$/),
    ...of(relationships, 'interface', t.relationship, /^relationshipType$/),
    ...of(types, 'class', t.type, /^type$/),
    ...of(consents, 'text', t.consent, /^name$/),
    ...of(actions, 'constant', t.action, /^action$/),
  ];
}
