/** `<Why answer={…} explain={…} />` draws an explained decision. */

export { askStored } from './ask.ts';
export { type KnownPaths, pathsIn, withPaths } from './model.ts';
export { isTold, type Place } from './places.ts';
export type { Links } from './rules.tsx';
export type { Answer, Explanation } from './schema.ts';
export { Why } from './why.tsx';
