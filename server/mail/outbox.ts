/**
 * The local outbox: what `accord start` does with mail, because a machine of one person has no mail server. Each message becomes a
 * file that only its owner reads: it holds links that log somebody in.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { runTasks } from '../room/tasks.ts';
import { placeOfMail } from './actions.ts';
import { mimeOf } from './mime.ts';
import type { MailLanguage } from './rules.ts';
import { lockWaiting, markHandedOver, removeExpired, type WaitingRow } from './store.ts';
import { type MailTemplate, type MailVariables, render } from './templates.ts';

export type OutboxFile = { tenant: string; to: string; subject: string; path: string };

type OutboxServices = { database: Database; encrypter: Encrypter; clock: Clock; observe: Observe };

/**
 * Writes messages to files as they come.
 * @param directory made when it is not there
 * @param written told of each file
 * @returns what ends it
 */
export function startOutbox(
  services: OutboxServices,
  directory: string,
  written: (file: OutboxFile) => void,
): () => Promise<void> {
  const run = async () => {
    const files = await writeWaiting(services, directory);
    files.forEach(written);
    return files.length === limits.outboxMessagesMax ? 0 : undefined;
  };
  return runTasks([{ name: 'mail outbox', everyMs: 500, run }], services.observe);
}

/** A file is there before its message counts as handed over: one that is written twice has the same name. */
async function writeWaiting({ database, encrypter, clock }: OutboxServices, directory: string): Promise<OutboxFile[]> {
  return database.system(async (tx) => {
    const now = utc(clock.now());
    const rows = await lockWaiting(tx, now, limits.outboxMessagesMax);
    if (rows.length === 0) return [];
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const files: OutboxFile[] = [];
    for (const row of rows) files.push(await writeMessage(encrypter, directory, row));
    await markHandedOver(tx, rows, now);
    return files;
  });
}

async function writeMessage(encrypter: Encrypter, directory: string, row: WaitingRow): Promise<OutboxFile> {
  const { tenant, id, created_at: at } = row;
  const content = JSON.parse(encrypter.decrypt(row.content_encrypted, placeOfMail(tenant, id)).toString()) as {
    to: string;
    variables: MailVariables[MailTemplate];
  };
  const template = row.template as MailTemplate;
  const mail = render(template, row.language as MailLanguage, content.variables);
  const path = join(directory, `${at.replaceAll(/[:.]/g, '-')}-${template}-${id}.eml`);
  await writeFile(path, mimeOf({ id, at, to: content.to, tenant, ...mail }), { mode: 0o600 });
  return { tenant, to: content.to, subject: mail.subject, path };
}

/** @returns how many expired messages were removed */
export function sweepMail(database: Database, now: string): Promise<number> {
  return database.system((tx) => removeExpired(tx, now, limits.erasePageItemsMax));
}
