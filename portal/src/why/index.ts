/** `<Why answer={…} explain={…} />` draws an explained decision. */
export type { Answer, Explanation } from './schema.ts';
export { Why } from './why.tsx';
