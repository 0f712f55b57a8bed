/**
 * `accord audit verify`: verifies a tenant's ledger and prints what it found as JSON, which the next run takes as --checkpoint.
 * It asks for the database only: whoever audits needs no master key.
 */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readConfig } from '../server/core/config.ts';
import { Database } from '../server/core/db/database.ts';
import { problem } from '../server/core/problems.ts';
import { type Verification, verifyLedger } from '../server/ledger/index.ts';
import { readTenant } from '../server/tenants/index.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { attachLocal } from './local.ts';
import { createProgress } from './output.ts';

const wrong = (why: string) => new UsageError(`accord audit: ${why}\nusage: ${commands.audit.usage}`);

export async function run({ values, positionals }: Parsed): Promise<number> {
  const { tenant, checkpoint } = values;
  if (positionals.length !== 1 || positionals[0] !== 'verify') throw wrong('say accord audit verify');
  if (tenant === undefined) throw wrong('--tenant is missing');
  const earlier = checkpoint === undefined ? undefined : checkpointIn(await readFile(checkpoint, 'utf8'), checkpoint);
  const url = await databaseUrl(values.data as string);
  const database = new Database({ url, poolMax: 4, applicationName: 'accord-audit', observe: () => {} });
  try {
    const verification = await verify(database, tenant, earlier);
    console.log(JSON.stringify(verification));
    if (verification.firstBad !== undefined) console.error(sayBad(verification.firstBad));
    return verification.valid ? 0 : 1;
  } finally {
    await database.close();
  }
}

async function verify(database: Database, tenant: string, earlier: string | undefined): Promise<Verification> {
  if ((await database.tenantSnapshot(tenant, (tx) => readTenant(tx, tenant))) === undefined) {
    throw problem('tenant_not_found');
  }
  const progress = createProgress();
  progress.step('reading the ledger');
  try {
    return await verifyLedger({ database }, tenant, {
      ...(earlier === undefined ? {} : { earlier }),
      onProgress: (entries, of) => progress.step(`entry ${entries.toLocaleString('en')} of ${of.toLocaleString('en')}`),
    });
  } finally {
    progress.done();
  }
}

/** A file holds the checkpoint itself, or what this command printed. @throws UsageError */
function checkpointIn(text: string, file: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) return trimmed;
  let checkpoint: unknown;
  try {
    ({ checkpoint } = JSON.parse(trimmed) as { checkpoint?: unknown });
  } catch {
    // falls through: neither of the two
  }
  if (typeof checkpoint === 'string') return checkpoint;
  throw wrong(`${file} holds no checkpoint`);
}

async function databaseUrl(directory: string): Promise<string> {
  const { ACCORD_DATABASE_URL: given } = readConfig();
  if (given !== undefined) return given;
  const local = await attachLocal(directory);
  if (local === undefined)
    throw new UsageError(
      `accord audit: no accord start uses ${resolve(directory)}; run accord start first, or name its directory with --data`,
    );
  return local.environment.ACCORD_DATABASE_URL;
}

function sayBad({ sequence, id, problem }: NonNullable<Verification['firstBad']>): string {
  return `accord: the ledger was changed after it was sealed: ${problem} at entry ${sequence}${id === undefined ? '' : ` (${id})`}`;
}
