/** Rego for CodeMirror: a stream tokenizer is enough for colours, brackets and comments. What is wrong is said by the server's compiler. */
import { StreamLanguage, type StringStream } from '@codemirror/language';

const words = (text: string) => text.split(' ');
export const keywords = words('package import as default else not with some every in if contains');
const atoms = words('null true false');
const namespaces = words(
  'array base64 base64url bits crypto glob graph hex io json jwt net numbers object regex rego semver strings time units urlquery uuid',
);
export const builtins = words(
  'abs all any ceil concat count endswith floor format_int indexof indexof_n intersection is_array is_boolean is_null is_number is_object is_set is_string json.filter json.remove lower max min object.get object.keys object.remove object.union product regex.match replace round sort split sprintf startswith substring sum time.now_ns time.parse_rfc3339_ns to_number trim trim_left trim_prefix trim_right trim_space trim_suffix type_name union upper walk',
);
const keyword = new Set(keywords);
const atom = new Set(atoms);
const namespace = new Set(namespaces);
const builtin = new Set(builtins);

type State = { raw: boolean };

function rawString(stream: StringStream, state: State): string {
  state.raw = !stream.skipTo('`');
  if (state.raw) stream.skipToEnd();
  else stream.next();
  return 'string';
}

function wordAt(stream: StringStream, word: string): string {
  if (stream.string.charAt(stream.start - 1) === '.') return 'propertyName';
  if (atom.has(word)) return 'atom';
  // `contains` is a keyword in a rule's head and a function elsewhere.
  if (keyword.has(word)) return stream.peek() === '(' && word === 'contains' ? 'variableName.function' : 'keyword';
  if (word === 'input' || word === 'data') return 'variableName.special';
  if (stream.peek() === '(' && builtin.has(word)) return 'variableName.function';
  if (stream.peek() === '.' && namespace.has(word)) return 'namespace';
  return 'variableName';
}

function token(stream: StringStream, state: State): string | null {
  if (state.raw) return rawString(stream, state);
  if (stream.eatSpace()) return null;
  if (stream.match('#')) {
    stream.skipToEnd();
    return 'comment';
  }
  if (stream.match('`')) return rawString(stream, state);
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return 'string';
  if (stream.match(/^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return 'number';
  const word = stream.match(/^[A-Za-z_]\w*/) as RegExpMatchArray | null;
  if (word) return wordAt(stream, word[0]);
  if (stream.match(/^(?::=|==|!=|<=|>=|[=<>+\-*/%&|])/)) return 'operator';
  if (stream.match(/^[()[\]{}]/)) return 'bracket';
  stream.next();
  return 'punctuation';
}

export const regoLanguage = StreamLanguage.define<State>({
  name: 'rego',
  startState: () => ({ raw: false }),
  token,
  languageData: {
    commentTokens: { line: '#' },
    closeBrackets: { brackets: ['(', '[', '{', '"', '`'] },
    indentOnInput: /^\s*[}\])]$/,
  },
});
