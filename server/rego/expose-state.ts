/**
 * Making the whole state of a Wasm instance visible to its host, so that it can be put back: every mutable global
 * is exported, and a module that could change anything else (its tables, its segments) is refused. What is left of an
 * instance's state is its memory, which the host sees anyway.
 */
import { encodeU32, WasmReader } from './wasm-reader.ts';

const SECTION = { global: 6, export: 7, code: 10 } as const;
const GLOBAL = 3;
const TABLE_SET = 0x26;
const END = 0x0b;
/** data.drop, table.init, elem.drop, table.copy, table.grow, table.fill. */
const CHANGES_TABLES_OR_SEGMENTS = new Set([9, 12, 13, 14, 15, 17]);

/** What exported mutable globals are named: this and their index. */
export const STATE = 'state ';

/**
 * Returns the module with each of its own mutable globals exported as `state <index>`.
 * Throws RangeError on a module that imports or changes state which is neither memory nor global.
 */
export function exposeState(wasm: Uint8Array): Uint8Array {
  const reader = new WasmReader(wasm);
  const sections = reader.sections();
  const body = (id: number) => {
    const section = sections.find((one) => one.id === id);
    if (section === undefined) throw new RangeError(`wasm: no section ${id}`);
    reader.at = section.from;
    return section;
  };
  body(SECTION.code);
  refuseOtherState(reader);
  body(SECTION.global);
  const names = mutableGlobals(reader).map((index) => [index, Buffer.from(`${STATE}${index}`)] as const);
  const exported = body(SECTION.export);
  const count = reader.u32() + names.length;
  const added = names.flatMap(([index, name]) => [name.length, ...name, GLOBAL, ...encodeU32(index)]);
  const content = Buffer.concat([
    Buffer.from(encodeU32(count)),
    wasm.subarray(reader.at, exported.to),
    Buffer.from(added),
  ]);
  // A section is its id, its length and its content; `from` points behind the first two.
  const before = sections.filter(({ to }) => to <= exported.from).at(-1)?.to ?? 8;
  const header = Buffer.from([SECTION.export, ...encodeU32(content.length)]);
  return Buffer.concat([wasm.subarray(0, before), header, content, wasm.subarray(exported.to)]);
}

function mutableGlobals(reader: WasmReader): number[] {
  const found: number[] = [];
  const count = reader.u32();
  for (let index = 0; index < count; index++) {
    reader.byte(); // its type
    if (reader.byte() === 1) found.push(index);
    while (reader.instruction() !== END);
  }
  return found;
}

function refuseOtherState(reader: WasmReader): void {
  for (let left = reader.u32(); left > 0; left--) {
    const length = reader.u32();
    const end = reader.at + length;
    for (let groups = reader.u32(); groups > 0; groups--) {
      reader.skipNumber();
      reader.byte();
    }
    while (reader.at < end) {
      const at = reader.at;
      const opcode = reader.instruction();
      const prefixed = opcode === 0xfc ? new WasmReader(reader.bytes, at + 1).u32() : -1;
      if (opcode === TABLE_SET || CHANGES_TABLES_OR_SEGMENTS.has(prefixed))
        throw new RangeError(`wasm: opcode 0x${opcode.toString(16)} ${prefixed} changes what cannot be put back`);
    }
  }
}
