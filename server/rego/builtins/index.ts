/**
 * The list of builtins that the host supplies. The compiler is given exactly these names beside those that OPA's
 * Wasm target has itself, so that a call of any other is a compile error with a position.
 */
import { type Builtin, guarded } from './arguments.ts';
import { castBuiltins } from './casts.ts';
import { cryptoBuiltins } from './crypto.ts';
import { encodingBuiltins } from './encoding.ts';
import { formatIntBuiltins } from './format-int.ts';
import { jsonBuiltins } from './json.ts';
import { jsonReadBuiltins } from './json-read.ts';
import { jwtBuiltins } from './jwt.ts';
import { netBuiltins } from './net.ts';
import { objectBuiltins } from './object.ts';
import { regexBuiltins } from './regex.ts';
import { semverBuiltins } from './semver.ts';
import { sprintfBuiltins } from './sprintf.ts';
import { stringBuiltins } from './strings.ts';
import { templateStringBuiltins } from './template-string.ts';
import { timeBuiltins } from './time.ts';
import { traceBuiltins } from './trace.ts';
import { unitBuiltins } from './units.ts';
import { uriBuiltins } from './uri.ts';
import { uuidBuiltins } from './uuid.ts';
import { yamlBuiltins } from './yaml.ts';

const tables = [
  castBuiltins,
  cryptoBuiltins,
  encodingBuiltins,
  formatIntBuiltins,
  jsonBuiltins,
  jsonReadBuiltins,
  jwtBuiltins,
  netBuiltins,
  objectBuiltins,
  regexBuiltins,
  semverBuiltins,
  sprintfBuiltins,
  stringBuiltins,
  templateStringBuiltins,
  timeBuiltins,
  traceBuiltins,
  unitBuiltins,
  uriBuiltins,
  uuidBuiltins,
  yamlBuiltins,
];

/** Every host builtin by its Rego name. */
export const hostBuiltins: ReadonlyMap<string, Builtin> = new Map(
  tables.flatMap((table) => Object.entries(table).map(([name, builtin]) => [name, guarded(builtin)] as const)),
);

/** What compiler/plan/order.go puts before the name of a builtin that OPA's Wasm has itself, and the host does instead. */
const HOSTED = 'host ';

/** The builtin that a linked policy asks the host for. */
export function hostBuiltin(name: string): Builtin | undefined {
  return hostBuiltins.get(name.startsWith(HOSTED) ? name.slice(HOSTED.length) : name);
}

/** Their names, sorted. */
export const hostBuiltinNames: readonly string[] = [...hostBuiltins.keys()].sort();
