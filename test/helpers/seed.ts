/**
 * What random tests begin with. It is always the same one, so that two runs of one commit do the same; ACCORD_SEED gives
 * another one, and ACCORD_SEED=random a new one for each file, which is printed where a test's name does not say it.
 */
import fc from 'fast-check';

const given = process.env.ACCORD_SEED;

// A new one for each file, when asked for.
export const seed = given === 'random' ? Math.trunc(Math.random() * 2 ** 31) : Number(given ?? 20_261_123);
if (!Number.isInteger(seed)) throw new Error(`ACCORD_SEED is a whole number or "random", not ${given}`);

fc.configureGlobal({ seed });
