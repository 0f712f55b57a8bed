/**
 * The imports of a policy under OPA's Wasm ABI 1.x: text in and out of its memory, opa_abort, and calls of host
 * builtins, with their arguments and results. Exchanges values as text through opa_value_dump and opa_value_parse, so
 * that sets stay sets.
 */
import { limits } from '../core/limits.ts';
import { Fuel, PolicyError } from './budget.ts';
import { type Builtin, type BuiltinContext, boundResult } from './builtins/arguments.ts';
import { hostBuiltin } from './builtins/index.ts';
import type { Program } from './program.ts';
import { formatValue, parseValue, type Value } from './value.ts';

/** What the ABI exports; addresses are byte offsets. */
type PolicyExports = {
  readonly fuel: WebAssembly.Global<'i32'>;
  opa_malloc(size: number): number;
  opa_free(address: number): void;
  opa_json_parse(address: number, length: number): number;
  opa_value_parse(address: number, length: number): number;
  opa_json_dump(value: number): number;
  opa_value_dump(value: number): number;
  opa_heap_ptr_get(): number;
  opa_heap_ptr_set(address: number): void;
  builtins(): number;
  opa_eval(
    reserved: 0,
    entrypoint: number,
    data: number,
    input: number,
    inputLength: number,
    heap: number,
    /** Values as opa_value_dump writes them. */
    format: 1,
  ): number;
};

/** Fuel of one builtin call beside what its arguments and result cost: the crossing and the JavaScript take 1-2 us. */
const CALL_FUEL = 64;

/** Characters of arguments and result per unit of fuel; dumping and parsing them in Wasm is already charged (2-4 a byte). */
const CHARS_PER_UNIT = 4;

const ABORT_CHARS_MAX = 4096;

export class Host {
  readonly fuel: Fuel;
  readonly exports: PolicyExports;
  /** Set before each evaluation. */
  now = 0n;
  readonly #memory: WebAssembly.Memory;
  readonly #builtins: Builtin[] = [];
  readonly #context: BuiltinContext;
  #buffer: Buffer;
  readonly #encoder = new TextEncoder();

  /** Instantiates the policy. Throws PolicyError (internal) when it calls a builtin that the host does not supply. */
  constructor(program: Program) {
    this.#memory = new WebAssembly.Memory(program.memory);
    this.#buffer = Buffer.from(this.#memory.buffer);
    const call = (id: number, _context: number, ...args: number[]) => this.#callBuiltin(id, args);
    const instance = new WebAssembly.Instance(program.module, {
      env: {
        memory: this.#memory,
        opa_abort: (address: number) => {
          throw abortError(this.readText(address, ABORT_CHARS_MAX));
        },
        opa_println: () => {}, // a tenant's print must not reach our logs
        opa_builtin0: call,
        opa_builtin1: call,
        opa_builtin2: call,
        opa_builtin3: call,
        opa_builtin4: call,
      },
    });
    this.exports = instance.exports as unknown as PolicyExports;
    this.fuel = new Fuel(this.exports.fuel);
    this.fuel.fill(limits.evaluateFuel);
    const host = this;
    this.#context = {
      get now() {
        return host.now;
      },
      charge: (units) => host.fuel.charge(units),
    };
    this.#link();
  }

  /** The policy's memory. Growth detaches the old view, so this must be asked for again after each call into Wasm. */
  get buffer(): Buffer {
    if (this.#buffer.length === 0) this.#buffer = Buffer.from(this.#memory.buffer);
    return this.#buffer;
  }

  /** The NUL-terminated UTF-8 text at `address`; throws PolicyError (memory) when it exceeds `bytesMax`. */
  readText(address: number, bytesMax: number): string {
    const buffer = this.buffer;
    const end = buffer.indexOf(0, address);
    if (end < 0 || end - address > bytesMax)
      throw new PolicyError('memory', `a value of the policy exceeds ${bytesMax} bytes`);
    return buffer.toString('utf8', address, end);
  }

  /** Writes `text` at `address`, where `capacity` bytes are free. Returns the bytes written, or -1 when it did not fit. */
  writeText(text: string, address: number, capacity: number): number {
    const buffer = this.buffer;
    const { read, written } = this.#encoder.encodeInto(text, buffer.subarray(address, address + capacity));
    return read === text.length ? written : -1;
  }

  #link(): void {
    const address = this.exports.opa_json_dump(this.exports.builtins());
    const needed = JSON.parse(this.readText(address, limits.builtinResultBytesMax)) as Record<string, number>;
    for (const [name, id] of Object.entries(needed)) {
      const builtin = hostBuiltin(name);
      if (builtin === undefined)
        throw new PolicyError('internal', `the policy calls ${name}, which is not supplied here`);
      this.#builtins[id] = builtin;
    }
  }

  #callBuiltin(id: number, addresses: number[]): number {
    this.fuel.charge(CALL_FUEL);
    const builtin = this.#builtins[id];
    if (builtin === undefined)
      throw new PolicyError('internal', `the policy calls builtin ${id}, which it did not list`);
    const args: Value[] = [];
    for (const address of addresses) args.push(this.#readValue(address));
    const result = builtin(this.#context, ...args);
    const text = result === undefined ? undefined : this.#format(result);
    this.fuel.chargeGathered();
    return text === undefined ? 0 : this.#writeValue(text);
  }

  #readValue(address: number): Value {
    const dumped = this.exports.opa_value_dump(address);
    const text = this.readText(dumped, limits.evaluateMemoryPages * 65_536);
    this.exports.opa_free(dumped); // at least 1 KiB each
    this.fuel.charge(text.length / CHARS_PER_UNIT);
    return parseValue(text);
  }

  /** A result's text. It may be much longer than the value: parts can be shared. */
  #format(value: Value): string {
    let length = 0;
    return formatValue(value, (chars) => {
      length += chars;
      boundResult(length);
      this.fuel.charge(chars / CHARS_PER_UNIT);
    });
  }

  #writeValue(text: string): number {
    const capacity = Buffer.byteLength(text);
    const address = this.exports.opa_malloc(capacity);
    this.writeText(text, address, capacity);
    const parsed = this.exports.opa_value_parse(address, capacity);
    this.exports.opa_free(address);
    return parsed;
  }
}

/** The messages are OPA's (internal/compiler/wasm and wasm/src), fixed by the version that compiles. */
function abortError(message: string): PolicyError {
  if (message.startsWith('opa_malloc: failed')) return new PolicyError('memory', 'the policy ran out of memory');
  if (/(?:assignment|insert) conflict$/.test(message)) return new PolicyError('conflict', message);
  if (message.startsWith('illegal ')) return new PolicyError('input', message);
  return new PolicyError('internal', message);
}
