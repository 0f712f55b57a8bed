/** See renew-opa.sh. */
import { writeFileSync } from 'node:fs';
import { createCompiler } from '../../../server/rego/compile.ts';
import { KEPT, kept, nameOf, startOpa } from './opa.ts';
import { samples } from './sample.ts';

const compiler = createCompiler();
const opa = startOpa();
const lines: string[] = [];
for await (const { source, cases } of samples(compiler, KEPT.seed, KEPT.policies))
  for (const { inputs } of cases)
    lines.push(JSON.stringify([nameOf(source, inputs), await opa.evaluate(source, inputs)]));
opa.close();
await compiler.close();
writeFileSync(kept, `${lines.join('\n')}\n`);
