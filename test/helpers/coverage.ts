/** What `npm run test:coverage` prints: lines and branches that the tests in vitest's processes ran, by part of the product. */

type Covered = { total: number; covered: number };
/** coverage-summary.json: an entry for each file, and one named "total". */
export type Summary = Readonly<Record<string, { lines: Covered; branches: Covered }>>;

/** A room of the server is a part, and so is each other folder at the top. */
function partOf(file: string): string {
  const [top = '', second = '', third] = file.split('/');
  return top === 'server' && third !== undefined ? `${top}/${second}` : top;
}

const percent = (sums: readonly Covered[]) => {
  const sum = (key: keyof Covered) => sums.reduce((total, one) => total + one[key], 0);
  return `${(sum('total') === 0 ? 100 : (100 * sum('covered')) / sum('total')).toFixed(1).padStart(8)} %`;
};

/** A line for each part, in the order of their names, and one for all. @param root what the names of files begin with */
export function byPart(summary: Summary, root: string): string[] {
  const files = Object.entries(summary).filter(([file]) => file !== 'total');
  const parts = Map.groupBy(files, ([file]) => partOf(file.slice(root.length + 1)));
  const line = (name: string, all: typeof files) =>
    `${name.padEnd(28)}${percent(all.map(([, one]) => one.lines))}${percent(all.map(([, one]) => one.branches))}`;
  return [
    `${'part'.padEnd(28)}     lines  branches`,
    ...[...parts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, all]) => line(name, all)),
    line('all', files),
  ];
}
