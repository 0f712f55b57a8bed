/** The tables of docs/events.md: which types of events there are, and which operation emits which. */
import { silentOperations } from '../server/events/operations.ts';
import type { EventType } from '../server/room/events.ts';

type Operations = { paths?: Record<string, Record<string, unknown>> };

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/** All operations of an OpenAPI document: `PUT /tenants/{tenant}/policies/{policyName}`. */
export function operationsOf({ paths = {} }: Operations): string[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => methods.includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const table = (head: string[], rows: string[][]) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

/**
 * @throws Error for an operation that changes something and neither emits nor says why not, for one that does both, and for one
 *   that is not there
 */
export function eventTables(types: readonly EventType[], document: Operations): string {
  const all = operationsOf(document);
  const emitted = new Map<string, string[]>();
  for (const { name, operations } of types)
    for (const operation of operations) emitted.set(operation, [...(emitted.get(operation) ?? []), name]);
  const silent = Object.entries(silentOperations);
  const wrong = [
    ...[...emitted.keys()].filter((one) => !all.includes(one)).map((one) => `${one} is no operation`),
    ...silent.filter(([one]) => !all.includes(one)).map(([one]) => `${one} is no operation`),
    ...silent.filter(([one]) => emitted.has(one)).map(([one]) => `${one} emits, and is listed among those that do not`),
    ...all
      .filter((one) => !one.startsWith('GET ') && !emitted.has(one) && silentOperations[one] === undefined)
      .map((one) => `${one} states no type of events, and server/events/operations.ts does not say why`),
  ];
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  const typeRows = [...types]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, when, example }) => [`\`${name}\``, cell(when), `\`${cell(JSON.stringify(example))}\``]);
  const operationRows = all
    .filter((one) => emitted.has(one) || silentOperations[one] !== undefined)
    .map((one) => {
      const names = emitted.get(one)?.map((name) => `\`${name}\``);
      return [`\`${one}\``, names?.join(', ') ?? `none: ${cell(silentOperations[one] as string)}`];
    });
  return [table(['Type', 'When', 'Example of `data`'], typeRows), table(['Operation', 'Events'], operationRows)].join(
    '\n\n',
  );
}
