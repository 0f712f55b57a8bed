/** The labels of namespaces: a Tenant may allow namespaces by them. */
import type { Sink } from './reflector.ts';

type Labels = Readonly<Record<string, string>>;

export class Namespaces {
  readonly #labels = new Map<string, Labels>();
  readonly #changed = new Set<string>();
  readonly sink: Sink;

  /** @param tell the namespaces that came, went or have other labels now */
  constructor(tell: (namespaces: readonly string[]) => void) {
    this.sink = {
      put: ({ metadata }) => this.#set(metadata.name, metadata.labels ?? {}),
      remove: ({ metadata }) => this.#set(metadata.name, undefined),
      retain: (listed) => {
        for (const name of this.#labels.keys()) if (!listed.has(`/${name}`)) this.#set(name, undefined);
      },
      flush: () => {
        const names = [...this.#changed];
        this.#changed.clear();
        if (names.length > 0) tell(names);
        return names.length;
      },
    };
  }

  labels(namespace: string): Labels | undefined {
    return this.#labels.get(namespace);
  }

  #set(name: string, labels: Labels | undefined): void {
    const before = this.#labels.get(name);
    if (labels === undefined) this.#labels.delete(name);
    else this.#labels.set(name, labels);
    if (textOf(before) !== textOf(labels)) this.#changed.add(name);
  }
}

function textOf(labels: Labels | undefined): string {
  return labels === undefined ? '' : JSON.stringify(Object.entries(labels).sort());
}
