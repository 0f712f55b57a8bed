/** Registers the facts room. */
import { defineRoom } from '../core/room.ts';

export const factsRoom = defineRoom({ name: 'facts', tables: [], create: () => ({}) });
