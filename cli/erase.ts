/** `accord erase`: erases a person from a tenant of a local installation, or of the one that ACCORD_DATABASE_URL names. */
import { randomUUID } from 'node:crypto';
import { counted } from '../server/core/text.ts';
import { type ErasureReport, eraseActor } from '../server/erasure/index.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { createProgress } from './output.ts';
import { withServices } from './with-services.ts';

/** How long the command is silent. */
const PORTION_MS = 500;
const by = { actor: { type: 'cli', id: 'erase' }, name: 'cli' };

export async function run({ values }: Parsed): Promise<number> {
  const { tenant, actor, contact } = values;
  const wrong = (why: string) => new UsageError(`accord erase: ${why}\nusage: ${commands.erase.usage}`);
  if (tenant === undefined) throw wrong('--tenant is missing');
  const [, type, id] = /^([^:]+):(.+)$/s.exec(actor ?? '') ?? [];
  if (type === undefined || id === undefined) throw wrong('--actor is a type and an id, such as user:alice');
  const contacts = contact === undefined ? [] : contact.split(',');
  const requestId = `cli-${randomUUID()}`;
  const { revision: _, ...report } = await withServices('erase', values.data as string, async ({ erasure }) => {
    const progress = createProgress();
    try {
      for (;;) {
        const made = await eraseActor(erasure, tenant, { ...by, requestId }, { type, id, contacts }, PORTION_MS);
        if (made.status === 'erased') return made;
        progress.step(sayRemoved(made));
      }
    } finally {
      progress.done();
    }
  });
  console.log(JSON.stringify(report, undefined, 2));
  if (countOf(report) === 0) console.error(`accord: nothing was found under ${type}/${id}`);
  return 0;
}

function sayRemoved(report: ErasureReport): string {
  return counted(countOf(report), 'record');
}

function countOf({ removed }: Pick<ErasureReport, 'removed'>): number {
  return Object.values(removed).reduce((sum, some) => sum + some, 0);
}
