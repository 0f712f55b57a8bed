/** The kinds that the operator reconciles, of all rooms. */
import type { Manifest } from '../../crds/index.ts';
import type { ResourceKind } from '../../server/room/resource-kind.ts';
import type { Room } from '../../server/room/room.ts';
import { rooms } from '../../server/rooms.ts';
import type { OperatorServices } from '../services.ts';
import type { KindName } from '../source.ts';

type Kind = ResourceKind<OperatorServices, Manifest>;

/** In the order in which they are looked at. */
export const kinds = (rooms as readonly Room[])
  .flatMap(({ resourceKinds }) => (resourceKinds ?? []) as unknown as readonly Kind[])
  .sort((a, b) => a.order - b.order);

export const kindNames: readonly KindName[] = kinds.map(({ kind }) => kind);

const byName = new Map(kinds.map((kind) => [kind.kind, kind]));

export function kindOf(name: KindName): Kind {
  return byName.get(name) as Kind;
}
