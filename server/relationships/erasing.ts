/** Erasing a person from the relationships room: relationships both ways, attributes, and what imports said. */

import { limits } from '../core/limits.ts';
import type { RoomErasing } from '../room/erasing.ts';
import { removeEntity } from './entity-store.ts';
import { removeImportErrors, removeMatching } from './store.ts';

export const erasingRelationships: RoomErasing = {
  async eraseSome(tx, { tenant, type, id }) {
    const most = limits.deletePageItemsMax;
    const from = await removeMatching(tx, tenant, { fromType: type, fromId: id }, most);
    if (from === most) return { removed: { relationships: from }, next: '' };
    const to = await removeMatching(tx, tenant, { toType: type, toId: id }, most);
    if (to === most) return { removed: { relationships: from + to }, next: '' };
    const actors = await removeEntity(tx, tenant, { type, id });
    const importErrors = await removeImportErrors(tx, tenant, id);
    return { removed: { relationships: from + to, actors, importErrors } };
  },
  keeps: [
    {
      what: 'attributes of other actors and resources in which the tenant has written the id or an address',
      why: 'They belong to somebody else, and what they mean is known to the tenant only.',
      until: 'the tenant replaces them (PUT) or deletes them',
    },
  ],
};
