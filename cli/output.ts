/** Says what is being done, on one line of a terminal; silent when stderr is no terminal. */
export function createProgress(stream: NodeJS.WriteStream = process.stderr): {
  step(what: string): void;
  done(): void;
} {
  if (!stream.isTTY) return { step: () => {}, done: () => {} };
  const started = performance.now();
  return {
    step(what) {
      stream.write(`\r\x1b[K${((performance.now() - started) / 1000).toFixed(1)} s  ${what}…`);
    },
    done() {
      stream.write('\r\x1b[K');
    },
  };
}

/** Rows in columns, the widest cell of each deciding its width. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd())
    .join('\n');
}

/** A command to paste: curl with a JSON body, quoted for a POSIX shell. */
export function curl(url: string, token: string, body: unknown): string {
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''");
  return [
    `curl -s ${url} \\`,
    `  -H 'content-type: application/json' \\`,
    `  -H "authorization: Bearer ${token}" \\`,
    `  -d '${quoted}'`,
  ].join('\n');
}
