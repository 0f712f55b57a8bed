/** Reading what cases/main.go writes: lines of JSON, each followed by that many bytes of Wasm. */
import type { Readable } from 'node:stream';

/** One of OPA's cases. `wantResult` is a list of bindings; `strict` errors are undefined without strict errors. */
export type Case = {
  note: string;
  version: string;
  folder: string;
  wasmBytes: number;
  plan?: string;
  compileError?: string;
  input?: unknown;
  data?: Record<string, unknown>;
  wantDefined?: boolean;
  wantResult?: Record<string, unknown>[];
  wantError?: boolean;
  wantCode?: string;
  strict?: boolean;
  wasm: Uint8Array;
};

/** The cases, in order. Throws when the stream ends inside one. */
export async function* readCases(stream: Readable): AsyncGenerator<Case> {
  let held: Buffer[] = [];
  let size = 0;
  let header: Omit<Case, 'wasm'> | undefined;
  const take = (bytes: number): Buffer => {
    const all = Buffer.concat(held);
    held = [all.subarray(bytes)];
    size -= bytes;
    return all.subarray(0, bytes);
  };
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    held.push(chunk);
    size += chunk.length;
    for (;;) {
      if (header === undefined) {
        const end = Buffer.concat(held).indexOf(10);
        if (end < 0) break;
        header = JSON.parse(take(end + 1).toString());
      }
      if (size < header!.wasmBytes) break;
      yield { ...header!, wasm: take(header!.wasmBytes) };
      header = undefined;
    }
  }
  if (size > 0 || header !== undefined) throw new Error('the cases end in the middle of one');
}
