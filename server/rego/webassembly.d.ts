/** The part of the WebAssembly JavaScript interface that we use; @types/node leaves it to lib.dom, which a server must not see. */
declare namespace WebAssembly {
  type ExportValue = unknown;
  type Exports = Record<string, ExportValue>;
  type ModuleImports = Record<string, unknown>;
  type Imports = Record<string, ModuleImports>;
  type ValueTypes = { i32: number; i64: bigint; f32: number; f64: number };
  type Descriptor = { module?: string; name: string; kind: 'function' | 'table' | 'memory' | 'global' | 'tag' };
  class Module {
    constructor(bytes: ArrayBufferView | ArrayBuffer);
    static exports(module: Module): Descriptor[];
    static imports(module: Module): (Descriptor & { module: string })[];
  }
  class Instance {
    constructor(module: Module, imports?: Imports);
    readonly exports: Exports;
  }
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Global<T extends keyof ValueTypes = 'i32'> {
    constructor(descriptor: { value: T; mutable?: boolean }, value?: ValueTypes[T]);
    value: ValueTypes[T];
  }
  class RuntimeError extends Error {}
  class CompileError extends Error {}
  class LinkError extends Error {}
}
