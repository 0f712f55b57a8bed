/**
 * The local outbox: what `accord start` does with mail, because a machine of one person has no mail server. Each message becomes a
 * file that only its owner reads: it holds links that log somebody in.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { runTasks } from '../room/tasks.ts';
import { type MailContent, placeOfMail } from './actions.ts';
import { mimeOf, type ReadMail, readMime } from './mime.ts';
import { chooseTemplate, writeWaiting } from './rendering.ts';
import type { MailSender } from './sender.ts';
import { lockWaiting, removeOld, settleMessages, settleWritten, type WaitingRow } from './store.ts';
import { TemplateError } from './template-error.ts';

/** `directory`: where mails are kept, once they are. */
export type Outbox = { directory: string | undefined };

export type OutboxFile = { tenant: string; to: string; subject: string; path: string };

type OutboxServices = {
  database: Database;
  encrypter: Encrypter;
  clock: Clock;
  observe: Observe;
  mail: { sender: Pick<MailSender, 'pause'>; outbox: Outbox };
};

/**
 * Writes messages to files as they come, in the place of sending them.
 * @param directory made when it is not there
 * @param written told of each file
 * @returns what ends it
 */
export function startOutbox(
  services: OutboxServices,
  directory: string,
  written: (file: OutboxFile) => void,
): () => Promise<void> {
  services.mail.sender.pause();
  services.mail.outbox.directory = directory;
  const run = async () => {
    const files = await writeFiles(services, directory);
    files.forEach(written);
    return files.length === limits.outboxMessagesMax ? 0 : undefined;
  };
  return runTasks([{ name: 'mail outbox', everyMs: 500, run }], services.observe);
}

/** A file is there before its message counts as sent: one that is written twice has the same name. */
async function writeFiles(services: OutboxServices, directory: string): Promise<OutboxFile[]> {
  const { database, clock } = services;
  return database.system(async (tx) => {
    const now = utc(clock.now());
    const rows = await lockWaiting(tx, now, limits.outboxMessagesMax);
    if (rows.length === 0) return [];
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const files: OutboxFile[] = [];
    const done: WaitingRow[] = [];
    for (const row of rows) {
      const file = await writeMessage(services, tx, directory, row);
      if (typeof file === 'string') {
        // One that cannot be written holds up none of the others, also of other tenants.
        const outcome = { id: row.id, status: 'failed' as const, reason: 'template', answer: file };
        await settleMessages(tx, row.tenant, [outcome], { now, which: 'attempted' });
        continue;
      }
      files.push(file);
      done.push(row);
    }
    if (done.length > 0) await settleWritten(tx, done, now);
    return files;
  });
}

/** @returns a text: why it cannot be written */
async function writeMessage(
  { encrypter, observe }: OutboxServices,
  tx: Transaction,
  directory: string,
  row: WaitingRow,
): Promise<OutboxFile | string> {
  const { tenant, id, template, created_at: at } = row;
  const content = encrypter.decrypt(row.content_encrypted, placeOfMail(tenant, id)).toString();
  const { to, variables } = JSON.parse(content) as MailContent;
  const chosen = await chooseTemplate(tx, tenant, template, row.language);
  if (chosen === undefined) return 'there is no such template';
  const written = writeWaiting(template, chosen, variables, () =>
    observe({ kind: 'mail_attempted', tenant, template, outcome: 'template' }),
  );
  if (written instanceof TemplateError) return written.message;
  const { html = '', ...mail } = written;
  const path = join(directory, `${at.replaceAll(/[:.]/g, '-')}-${template}-${id}.eml`);
  await writeFile(path, mimeOf({ id, at, to, tenant, ...mail, html }), { mode: 0o600 });
  return { tenant, to, subject: mail.subject, path };
}

const FILE = /^[0-9A-Za-z-]+\.eml$/;

/** The mails of an outbox, the newest first. @param tenant only of this one */
export async function listOutbox(
  directory: string,
  limit: number,
  tenant?: string,
): Promise<(ReadMail & { file: string })[]> {
  const files = (await readdir(directory).catch(() => [])).filter((file) => FILE.test(file));
  const mails: (ReadMail & { file: string })[] = [];
  for (const file of files.sort().reverse()) {
    if (mails.length === limit) break;
    const mail = await readOutboxFile(directory, file);
    if (mail !== undefined && (tenant === undefined || mail.tenant === tenant)) mails.push({ ...mail, file });
  }
  return mails;
}

/** Undefined: there is none of this name. */
export async function readOutboxFile(directory: string, file: string): Promise<ReadMail | undefined> {
  if (!FILE.test(file)) return undefined;
  const text = await readFile(join(directory, file), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : readMime(text);
}

/** @returns how many old messages were removed */
export function sweepMail(database: Database, now: string): Promise<number> {
  return database.system((tx) => removeOld(tx, now, limits.erasePageItemsMax));
}
