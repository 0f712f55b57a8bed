/** Writes findings for people, as JSON, as SARIF 2.1.0 and as JUnit's XML. */
import { describeKey } from '../../operator/index.ts';
import { counted } from '../../server/core/text.ts';
import type { Finding, Report } from './findings.ts';

export const formats = { text, json, sarif, junit } as const satisfies Record<string, (report: Report) => string>;
export type Format = keyof typeof formats;

function text({ manifests, findings }: Report): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const lines = findings.map((finding) => {
    const place = [finding.file, finding.line, finding.column].filter((part) => part !== undefined).join(':');
    const words = finding.severity === 'note' ? `note: ${finding.message}` : finding.message;
    return [place, finding.object, words].filter((part) => part !== undefined && part !== '').join(': ');
  });
  const good = `${counted(manifests, 'manifest')} ${manifests === 1 ? 'is' : 'are'}`;
  const end = errors === 0 ? `${good} good.` : `${counted(errors, 'error')} in ${counted(manifests, 'manifest')}.`;
  return [...lines, end].join('\n');
}

function json({ manifests, findings }: Report): string {
  const valid = findings.every(({ severity }) => severity !== 'error');
  return JSON.stringify({ valid, manifests, findings }, undefined, 2);
}

function sarif({ findings, rules }: Report): string {
  const names = Object.keys(rules);
  const driver = {
    name: 'accord validate',
    rules: names.map((id) => ({ id, shortDescription: { text: rules[id] } })),
  };
  const results = findings.map((finding) => ({
    ruleId: finding.rule,
    ruleIndex: names.indexOf(finding.rule),
    level: finding.severity,
    message: { text: finding.object === undefined ? finding.message : `${finding.object}: ${finding.message}` },
    ...(finding.file === undefined ? {} : { locations: [locationOf(finding, finding.file)] }),
  }));
  const log = {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    // Columns are those of the YAML library, which counts UTF-16 code units.
    runs: [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }],
  };
  return JSON.stringify(log, undefined, 2);
}

function locationOf({ line, column, object }: Finding, file: string) {
  const region = { startLine: line, ...(column === undefined ? {} : { startColumn: column }) };
  return {
    physicalLocation: {
      // A URI reference: what is no character of one is encoded, and a first segment with a colon is no scheme.
      artifactLocation: { uri: uriOf(file) },
      ...(line === undefined ? {} : { region }),
    },
    ...(object === undefined ? {} : { logicalLocations: [{ fullyQualifiedName: object, kind: 'object' }] }),
  };
}

function uriOf(file: string): string {
  const path = file.split('/').map(encodeURIComponent).join('/');
  return path.startsWith('/') ? `file://${path}` : path;
}

/** A test case for each manifest, and one for each file or directory that has findings of its own. */
function junit({ objects, findings }: Report): string {
  const cases = new Map<string, { name: string; file: string | undefined; errors: Finding[] }>();
  const caseOf = (name: string, file: string | undefined) => {
    const id = JSON.stringify([name, file]);
    const known = cases.get(id) ?? { name, file, errors: [] };
    cases.set(id, known);
    return known;
  };
  for (const { key, path } of objects) caseOf(describeKey(key), path);
  for (const finding of findings) {
    if (finding.severity === 'error') caseOf(finding.object ?? 'the file', finding.file).errors.push(finding);
  }
  const all = [...cases.values()];
  const failed = all.filter(({ errors }) => errors.length > 0).length;
  const totals = `tests="${all.length}" failures="${failed}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="accord validate" ${totals}>`,
    `  <testsuite name="accord validate" ${totals} skipped="0">`,
    ...all.map(({ name, file, errors }) => {
      const head = `    <testcase name="${xml(name)}" classname="${xml(file ?? 'manifests')}"`;
      return errors.length === 0 ? `${head}/>` : `${head}>\n      ${failureOf(errors)}\n    </testcase>`;
    }),
    '  </testsuite>',
    '</testsuites>',
  ].join('\n');
}

/** One for each case: that is what the readers of JUnit's XML understand. */
function failureOf(errors: readonly Finding[]): string {
  const lines = errors.map(({ file, line, column, message }) => {
    const place = [file, line, column].filter((part) => part !== undefined).join(':');
    return place === '' ? message : `${place}: ${message}`;
  });
  const [first] = errors;
  return `<failure type="${first?.rule}" message="${xml(first?.message ?? '')}">${xml(lines.join('\n'))}</failure>`;
}

/** For content and attributes of XML 1.0. What it cannot hold in any form becomes U+FFFD. */
function xml(value: string): string {
  return value
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"'\t\n\r]/g, (character) => `&#${character.codePointAt(0)};`);
}
