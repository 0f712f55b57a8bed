/** Lines of CSV (RFC 4180) that a spreadsheet opens without running what they hold, pure. */

/**
 * What a spreadsheet would take for a formula, also behind spaces and in the full and small widths of East Asian text:
 * users choose some of these texts, and others open the file.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cc}\p{Cf}]*[=+\-@\u2212\uFE62\uFE63\uFE66\uFE6B\uFF0B\uFF0D\uFF1D\uFF20])/u;

/** One line, with its end. Undefined is an empty cell. */
export function csvLine(cells: readonly (string | number | undefined)[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}

function cell(value: string | number | undefined): string {
  if (value === undefined) return '';
  const text = FORMULA.test(String(value)) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
