/**
 * The file in which a tenant's first invitations are handed over where there are no Secrets: readable by its owner
 * only, one for each tenant, beside the other data of a local installation.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MemberInvitationLink } from '../server/members/index.ts';

/** Adds an invitation to the tenant's file, in the place of an earlier one of that address and role. @returns its path */
export async function writeInvitationFile(
  directory: string,
  tenant: string,
  link: MemberInvitationLink,
): Promise<string> {
  const { email, role, url, expiresAt } = link;
  const path = join(directory, `${tenant}.json`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const others = (await readEntries(path)).filter((one) => one.email !== email || one.role !== role);
  const beside = `${path}.${randomUUID()}`;
  try {
    const text = `${JSON.stringify([...others, { email, role, url, expiresAt }], null, 2)}\n`;
    await writeFile(beside, text, { mode: 0o600, flag: 'wx', flush: true });
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  return path;
}

/** What does not read as invitations is not kept: the file is ours. */
async function readEntries(path: string): Promise<{ email?: unknown; role?: unknown }[]> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
