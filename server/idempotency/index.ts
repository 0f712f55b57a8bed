/**
 * The idempotency room: Idempotency-Key on the routes that state `config.idempotency`. A key is reserved in the transaction of what it
 * stands for, so that it survives a crash exactly if the write does; its answer is stored before it is sent.
 */
export { removeExpired } from './actions.ts';
export { erasingIdempotency } from './erasing.ts';
export { registerIdempotency } from './hooks.ts';
export { idempotencyRoom } from './room.ts';
