/**
 * Writes a dictionary for artifact.ts: the Wasm of a policy that links all of OPA's runtime, regular expressions
 * included. Run by hand for a new format: dictionary.ts FORMAT. A dictionary that is in use is never rewritten.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { brotliCompressSync } from 'node:zlib';
import { createCompiler } from '../compile.ts';

const file = new URL(`../artifact-${Number(process.argv[2])}.dict.br`, import.meta.url);
if (existsSync(file)) throw new Error(`${file.pathname} exists; stored policies may need it`);

const compiler = createCompiler();
const source = `package dictionary
outcome := "allow" if {
  regex.match(input.pattern, input.text)
  glob.match(input.pattern, [], input.text)
  count(input.list) > sum(input.numbers)
}
reason := concat(" ", input.list)
obligations contains x if some x in input.list
`;
const compiled = await compiler.compile('dictionary', source, { builtins: [] });
await compiler.close();
if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors));
writeFileSync(file, brotliCompressSync(compiled.wasm));
