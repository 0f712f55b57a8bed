/** Stands for a line in crds/kinds.ts and one in server/rooms.ts. To be imported before what reads those lists. */
import { type Kind, kinds } from '../../../crds/index.ts';
import type { Room } from '../../../server/room/room.ts';
import { rooms } from '../../../server/rooms.ts';
import { reminder } from './crd.ts';
import { remindersRoom } from './room.ts';

(kinds as unknown as Kind[]).push(reminder);
(rooms as unknown as Room[]).push(remindersRoom);
