/** TEST_LONG=1 makes random tests long: CI runs them so on a schedule (.github/workflows), and whoever changes what they test. */
export const isLong = process.env.TEST_LONG === '1';

/** How many worlds, steps or cases a random test draws. */
export const drawn = (usual: number, long: number): number => (isLong ? long : usual);
