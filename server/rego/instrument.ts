/**
 * The budget that is put into untrusted Wasm: a fuel counter that is decremented at each function entry and each
 * loop iteration, and a memory maximum. Both are in the code itself, so that they are deterministic and need neither a
 * thread nor a timer. Cost: about 12 % on evaluations, nothing measurable on the Go compiler.
 */
import { encodeS32, encodeU32, WasmReader } from './wasm-reader.ts';

const SECTION = { import: 2, memory: 5, global: 6, export: 7, code: 10 } as const;
const KIND = { function: 0, table: 1, memory: 2, global: 3 } as const;
const LOOP = 0x03;

type Part = Uint8Array | number[];

/**
 * Returns a module that behaves like `wasm`, traps (unreachable) when its fuel falls below zero, and whose memory, own
 * or imported, cannot grow beyond `memoryPages` (64 KiB each). The counter is the exported mutable i32 global `fuel`; it starts with
 * `fuel` units, and the host sets it before each call. Throws RangeError on a module that is malformed, uses
 * instructions outside the supported set, or needs more than `memoryPages` to start.
 */
export function instrument(wasm: Uint8Array, options: { memoryPages: number; fuel: number }): Uint8Array {
  const reader = new WasmReader(wasm);
  const sections = reader.sections();
  const counter = countGlobals(reader, sections);
  const parts: Part[] = [wasm.subarray(0, 8)];
  const seen = new Set<number>();
  for (const section of sections) {
    reader.at = section.from;
    seen.add(section.id);
    const body = rewriteSection(reader, section, counter, options);
    const length = body.reduce((sum, part) => sum + part.length, 0);
    parts.push([section.id, ...encodeU32(length)], ...body);
  }
  for (const id of [SECTION.global, SECTION.export, SECTION.code])
    if (!seen.has(id)) throw new RangeError(`wasm: no section ${id}`);
  return concatenate(parts);
}

/** The index that the fuel global gets: after all imported and own ones. */
function countGlobals(reader: WasmReader, sections: { id: number; from: number }[]): number {
  let count = 0;
  for (const { id, from } of sections) {
    reader.at = from;
    if (id === SECTION.global) count += reader.u32();
    if (id !== SECTION.import) continue;
    for (let left = reader.u32(); left > 0; left--) if (skipImport(reader) === KIND.global) count++;
  }
  return count;
}

function skipImport(reader: WasmReader): number {
  reader.skipBytes();
  reader.skipBytes();
  const kind = reader.byte();
  if (kind === KIND.function) reader.skipNumber();
  else if (kind === KIND.table) {
    reader.byte();
    reader.limits();
  } else if (kind === KIND.memory) reader.limits();
  else if (kind === KIND.global) reader.at += 2;
  else throw new RangeError(`wasm: import kind ${kind} is not supported`);
  return kind;
}

function rewriteSection(
  reader: WasmReader,
  section: { id: number; from: number; to: number },
  counter: number,
  options: { memoryPages: number; fuel: number },
): Part[] {
  const rest = () => reader.bytes.subarray(reader.at, section.to);
  switch (section.id) {
    case SECTION.import:
      return capImports(reader, options.memoryPages);
    case SECTION.memory: {
      const count = reader.u32();
      const capped: Part[] = [encodeU32(count)];
      for (let left = count; left > 0; left--) capped.push(capLimits(reader, options.memoryPages));
      return capped;
    }
    case SECTION.global: // one more: mutable i32, initialised by i32.const
      return [encodeU32(reader.u32() + 1), rest(), [0x7f, 1, 0x41, ...encodeS32(options.fuel), 0x0b]];
    case SECTION.export:
      return [encodeU32(reader.u32() + 1), rest(), [4, ...Buffer.from('fuel'), KIND.global, ...encodeU32(counter)]];
    case SECTION.code:
      return meterFunctions(reader, counter);
    default:
      return [rest()];
  }
}

function capImports(reader: WasmReader, pages: number): Part[] {
  const count = reader.u32();
  const parts: Part[] = [encodeU32(count)];
  for (let left = count; left > 0; left--) {
    const from = reader.at;
    if (skipImport(reader) !== KIND.memory) {
      parts.push(reader.bytes.subarray(from, reader.at));
      continue;
    }
    reader.at = from;
    reader.skipBytes();
    reader.skipBytes();
    reader.byte();
    parts.push(reader.bytes.subarray(from, reader.at), capLimits(reader, pages));
  }
  return parts;
}

function capLimits(reader: WasmReader, pages: number): number[] {
  const { flags, minimum, maximum } = reader.limits();
  if (flags > 1) throw new RangeError('wasm: shared and 64-bit memories are not supported');
  if (minimum > pages) throw new RangeError(`wasm: needs ${minimum} pages of memory, at most ${pages} are allowed`);
  return [1, ...encodeU32(minimum), ...encodeU32(Math.min(maximum ?? pages, pages))];
}

function meterFunctions(reader: WasmReader, counter: number): Part[] {
  const index = encodeU32(counter);
  // fuel = fuel - 1; if (fuel < 0) unreachable
  const tick = Uint8Array.of(
    ...[0x23, ...index, 0x41, 1, 0x6b, 0x24, ...index],
    ...[0x23, ...index, 0x41, 0, 0x48, 0x04, 0x40, 0x00, 0x0b],
  );
  const count = reader.u32();
  const parts: Part[] = [encodeU32(count)];
  for (let left = count; left > 0; left--) {
    const body = meterFunction(reader, tick);
    parts.push(encodeU32(body.reduce((sum, part) => sum + part.length, 0)), ...body);
  }
  return parts;
}

function meterFunction(reader: WasmReader, tick: Uint8Array): Part[] {
  const length = reader.u32();
  const end = reader.at + length;
  let from = reader.at;
  const body: Part[] = [];
  const tickHere = () => {
    body.push(reader.bytes.subarray(from, reader.at), tick);
    from = reader.at;
  };
  for (let groups = reader.u32(); groups > 0; groups--) {
    reader.skipNumber();
    reader.byte();
  }
  tickHere();
  while (reader.at < end) if (reader.instruction() === LOOP) tickHere();
  body.push(reader.bytes.subarray(from, end));
  return body;
}

function concatenate(parts: Part[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
