/**
 * Instruments the Go compiler's Wasm, exposes its state, and writes the committed artifact and its record, or (--check) compares a fresh
 * build with the record. Run by build.sh: pack.ts PLAIN.wasm OPA_VERSION GO_VERSION [--check]
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { limits } from '../../core/limits.ts';
import { exposeState } from '../expose-state.ts';
import { instrument } from '../instrument.ts';

const [file, opa, go, mode] = process.argv.slice(2);
const artifact = new URL('../compiler.wasm.br', import.meta.url);
const record = new URL('../compiler.json', import.meta.url);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const plain = readFileSync(file!);
const metered = instrument(plain, { memoryPages: limits.compileMemoryPages, fuel: limits.compileFuel });
const wasm = exposeState(metered);
const facts = `${JSON.stringify({ opa, go, plain: sha256(plain), instrumented: sha256(wasm) }, null, 2)}\n`;

if (mode === '--check') {
  const committed = sha256(brotliDecompressSync(readFileSync(artifact)));
  const recorded = readFileSync(record, 'utf8');
  if (facts !== recorded || committed !== sha256(wasm)) {
    process.stderr.write(
      `compiler.wasm.br differs from a fresh build\nrecorded ${recorded}artifact ${committed}\nbuilt ${facts}`,
    );
    process.exitCode = 1;
  }
} else {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24 };
  writeFileSync(artifact, brotliCompressSync(wasm, { params }));
  writeFileSync(record, facts);
}
