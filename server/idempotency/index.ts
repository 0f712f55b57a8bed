/**
 * The idempotency room: Idempotency-Key on the routes that state `config.once`. A key is claimed in the transaction of what it
 * stands for, so that a crash neither forgets nor invents; its answer is added before it is sent. Owns accord.idempotency_key.
 */
export { sweep } from './actions.ts';
export { erasingIdempotency } from './erasing.ts';
export { registerIdempotency } from './hooks.ts';
export { idempotencyRoom } from './room.ts';
