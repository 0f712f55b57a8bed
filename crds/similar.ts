/** Finds which of the known names a wrong one was probably meant to be. */

/** @returns the nearest of the known names, when it is near; the work is bounded by the known names, however long `name` is */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wrong = name.toLowerCase();
  let found: { field: string; distance: number } | undefined;
  for (const field of known) {
    const right = field.toLowerCase();
    const most = Math.floor(Math.max(wrong.length, right.length) / 3);
    if (Math.abs(wrong.length - right.length) > most || wrong.length > 2 * right.length) continue;
    const distance = distanceOf(wrong, right);
    if (distance <= most && distance < (found?.distance ?? Number.POSITIVE_INFINITY)) found = { field, distance };
  }
  return found?.field;
}

/** How many letters to insert, remove, replace, or swap with the next one (optimal string alignment). */
function distanceOf(a: string, b: string): number {
  let [beforeLast, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] as number) + Number(a[i - 1] !== b[j - 1]);
      let least = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, replaced);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (beforeLast[j - 2] as number) + 1);
      row.push(least);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] as number;
}
