/**
 * Reading and writing the parts of the WebAssembly binary format that instrument.ts needs: LEB128 numbers,
 * sections, and stepping over instructions (WebAssembly core specification 2.0, section 5, without vectors).
 */

/** A cursor over a module. Every read throws RangeError past the end. */
export class WasmReader {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new RangeError('wasm: unexpected end');
    return value;
  }

  /** An unsigned LEB128 of at most 32 bits. */
  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new RangeError('wasm: number too long');
  }

  /** Steps over one LEB128 of any width and sign. */
  skipNumber(): void {
    while (this.byte() >= 0x80);
  }

  /** Steps over a length-prefixed byte string. */
  skipBytes(): void {
    const length = this.u32();
    this.at += length;
  }

  /** Steps over limits: flags, minimum, and a maximum when the flags say so. */
  limits(): { flags: number; minimum: number; maximum: number | undefined } {
    const flags = this.byte();
    const minimum = this.u32();
    return { flags, minimum, maximum: flags & 1 ? this.u32() : undefined };
  }

  /** The sections of a module, in file order, as ranges of `bytes`. */
  sections(): { id: number; from: number; to: number }[] {
    if (this.bytes.length < 8 || new DataView(this.bytes.buffer, this.bytes.byteOffset).getUint32(0) !== 0x0061736d)
      throw new RangeError('wasm: not a module');
    const found = [];
    for (this.at = 8; this.at < this.bytes.length; ) {
      const id = this.byte();
      const length = this.u32();
      found.push({ id, from: this.at, to: this.at + length });
      this.at += length;
    }
    return found;
  }

  /** Steps over one instruction and returns its opcode. Throws on an opcode outside the supported set. */
  instruction(): number {
    const opcode = this.byte();
    const count = IMMEDIATES[opcode];
    if (count === undefined) this.#special(opcode);
    else for (let i = 0; i < count; i++) this.skipNumber();
    return opcode;
  }

  #special(opcode: number): void {
    if (opcode === 0x0e) for (let targets = this.u32() + 1; targets > 0; targets--) this.skipNumber();
    else if (opcode === 0x1c) for (let types = this.u32(); types > 0; types--) this.byte();
    else if (opcode === 0x43) this.at += 4;
    else if (opcode === 0x44) this.at += 8;
    else if (opcode === 0xfc) this.#prefixed();
    else throw new RangeError(`wasm: opcode 0x${opcode.toString(16)} is not supported`);
  }

  #prefixed(): void {
    const operation = this.u32();
    if (operation > 17) throw new RangeError(`wasm: opcode 0xfc ${operation} is not supported`);
    const operands = operation < 8 ? 0 : TWO_OPERANDS.has(operation) ? 2 : 1;
    for (let i = 0; i < operands; i++) this.skipNumber();
  }
}

/** memory.init, memory.copy, table.init, table.copy. */
const TWO_OPERANDS = new Set([8, 10, 12, 14]);

/** LEB128 immediates of each plain opcode; absent ones are special or unknown. */
const IMMEDIATES: (number | undefined)[] = immediates();

function immediates(): (number | undefined)[] {
  const table: (number | undefined)[] = new Array(256).fill(undefined);
  const set = (from: number, to: number, count: number) => table.fill(count, from, to + 1);
  set(0x00, 0x01, 0); // unreachable, nop
  set(0x02, 0x04, 1); // block, loop, if: block type
  set(0x05, 0x05, 0); // else
  set(0x0b, 0x0b, 0); // end
  set(0x0c, 0x0d, 1); // br, br_if
  set(0x0f, 0x0f, 0); // return
  set(0x10, 0x10, 1); // call
  set(0x11, 0x11, 2); // call_indirect
  set(0x1a, 0x1b, 0); // drop, select
  set(0x20, 0x26, 1); // locals, globals, tables
  set(0x28, 0x3e, 2); // loads and stores
  set(0x3f, 0x42, 1); // memory.size, memory.grow, i32.const, i64.const
  set(0x45, 0xc4, 0); // numeric
  set(0xd0, 0xd0, 1); // ref.null
  set(0xd1, 0xd1, 0); // ref.is_null
  set(0xd2, 0xd2, 1); // ref.func
  return table;
}

/** An unsigned LEB128. */
export function encodeU32(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    out.push(rest > 0 ? low | 0x80 : low);
  } while (rest > 0);
  return out;
}

/** A signed LEB128 of a non-negative 32-bit value. */
export function encodeS32(value: number): number[] {
  const out = encodeU32(value);
  const last = out.at(-1)!;
  if (last & 0x40) out.splice(-1, 1, last | 0x80, 0);
  return out;
}
