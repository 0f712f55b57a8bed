/** JSON in which the members of objects are in the order of their names: of values that are the same, it is the same text. */
export const ordered = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, one) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
