import { defineRoom } from '../room/room.ts';

export const factsRoom = defineRoom({ name: 'facts', tables: [], create: () => ({}) });
