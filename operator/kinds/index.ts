/** The kinds that the operator reconciles, of all rooms. */
import type { Manifest } from '../../crds/index.ts';
import type { Owner, Writer } from '../../server/core/ownership.ts';
import {
  type ConditionOptions,
  type FoundResource,
  type KindCondition,
  kindsOf,
  type ObjectSecret,
  type PutOptions,
  type ResourceClaim,
  type ResourceKind,
  type Written,
} from '../../server/room/resource-kind.ts';
import { rooms } from '../../server/rooms.ts';
import type { OperatorServices } from '../services.ts';
import type { KindName } from '../source.ts';

/** Those of the product, which sources follow. */
export const kinds = kindsOf(rooms).map(({ kind }) => kind);

export const kindNames: readonly KindName[] = kinds.map(({ definition }) => definition.kind);

const byName = new Map(kinds.map((kind) => [kind.definition.kind, kind]));

export function kindOf(name: KindName): Pick<ResourceKind<unknown>, 'claims' | 'definition' | 'hasPathNames'> {
  return byName.get(name) as ResourceKind<unknown>;
}

/** The verbs on the objects of a kind. */
type KindActions = {
  find(claim: ResourceClaim): Promise<FoundResource | undefined>;
  put(writer: Writer, claim: ResourceClaim, manifest: Manifest, options: PutOptions<Manifest>): Promise<Written>;
  transfer(writer: Writer, claim: ResourceClaim, to: Owner): Promise<Written>;
  describe(claim: ResourceClaim): Promise<Readonly<Record<string, unknown>> | undefined>;
  conditions(claim: ResourceClaim, options: ConditionOptions): Promise<readonly KindCondition[]>;
  /** Absent where nobody but the operator changes what the conditions say. */
  conditionsChanged: ((withinMs: number) => Promise<readonly ResourceClaim[]>) | undefined;
  remove(writer: Writer, claim: ResourceClaim): Promise<Written | undefined>;
  secretsOf(manifest: Manifest): readonly ObjectSecret[];
  readonly wakes: readonly KindName[];
};

/** The kinds of a process's rooms, each with the services of its room. */
export class Kinds {
  readonly names: readonly KindName[];
  readonly #actions: ReadonlyMap<KindName, KindActions>;

  constructor({ rooms, use }: OperatorServices) {
    const all = kindsOf(rooms);
    this.names = all.map(({ kind }) => kind.definition.kind);
    this.#actions = new Map(all.map(({ room, kind }) => [kind.definition.kind, actionsOf(kind, use(room))]));
  }

  of(name: KindName): KindActions {
    return this.#actions.get(name) as KindActions;
  }
}

function actionsOf<Services>(kind: ResourceKind<Services>, services: Services): KindActions {
  return {
    find: (claim) => kind.find(services, claim),
    put: (...of) => kind.put(services, ...of),
    transfer: (...of) => kind.transfer(services, ...of),
    describe: async (claim) => kind.describe?.(services, claim),
    conditions: async (...of) => (await kind.conditions?.(services, ...of)) ?? [],
    conditionsChanged:
      kind.conditionsChanged && (async (withinMs) => kind.conditionsChanged?.(services, withinMs) ?? []),
    remove: async (...of) => kind.remove?.(services, ...of),
    secretsOf: (manifest) => kind.objectSecrets?.(manifest) ?? [],
    wakes: kind.wakes ?? [],
  };
}
