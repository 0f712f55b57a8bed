/**
 * Secrets of objects other than Tenants, in the object's own namespace: those that a manifest refers to, and those that it asks
 * to be made. One that was made and is gone is made again, with another value. Where a source has no Secrets, what is made goes
 * to a file that its owner alone can read.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectSecret } from '../server/room/resource-kind.ts';
import type { ReconcileContext } from './context.ts';
import type { Refusal } from './reasons.ts';
import type { SecretAccess, Source, SourceObject } from './source.ts';
import { notFound, textOf } from './tenant-secrets.ts';

/** `value` is absent where the source has no Secrets: what is stored stays. */
type SecretRead = { ok: true; value?: string } | ({ ok: false } & Refusal);

const labels = { 'app.kubernetes.io/managed-by': 'accord' };

/** Reads what the manifest refers to; the source tells when it changes. @throws when the source does not answer */
export async function readSecret(source: Source, object: SourceObject, wanted: ObjectSecret): Promise<SecretRead> {
  if (source.secrets === undefined) return { ok: true };
  const place = `${object.namespace}/${wanted.name}`;
  const data = await read(source.secrets, object, wanted);
  if (data instanceof Error)
    return notFound(`Reading the Secret ${place} of ${wanted.field} is not allowed: ${data.message}`);
  if (data === undefined) return notFound(`Secret ${place} of ${wanted.field} not found.`);
  return valueIn(data, wanted, place);
}

/**
 * The value of the Secret that the manifest asks for; it is made where there is none.
 * @throws when the source does not answer
 */
export async function generatedSecret(
  { source, secretFiles }: Pick<ReconcileContext, 'source' | 'secretFiles'>,
  object: SourceObject,
  wanted: ObjectSecret,
): Promise<SecretRead> {
  if (source.secrets) return inSecret(source.secrets, object, wanted);
  if (secretFiles === undefined) return notFound(`There is no place for the secret of ${wanted.field} here.`);
  return inFile(join(secretFiles, object.claims?.tenant ?? ''), wanted);
}

async function inSecret(secrets: SecretAccess, object: SourceObject, wanted: ObjectSecret): Promise<SecretRead> {
  const { namespace } = object;
  const place = `${namespace}/${wanted.name}`;
  const refused = (error: Error) =>
    notFound(`The operator may not read or write the Secret ${place} of ${wanted.field}: ${error.message}`);
  const found = await read(secrets, object, wanted);
  if (found instanceof Error) return refused(found);
  if (found !== undefined) {
    const value = valueIn(found, wanted, place);
    if (!value.ok) return value;
    if (!isOf(wanted, (key) => found[key]?.toString())) return foreign(place);
    // Writing what is there tells whose it is: the value of another's Secret would be a chosen one.
    const same = Object.fromEntries(Object.entries(found).map(([key, bytes]) => [key, bytes.toString()]));
    return (await secrets.update(namespace, wanted.name, same)) === 'updated' ? value : foreign(place);
  }
  const data = wanted.generate?.() ?? {};
  try {
    if ((await secrets.create(namespace, wanted.name, data, labels, object)) === 'exists') return foreign(place);
  } catch (error) {
    if ((error as { status?: unknown }).status !== 403) throw error;
    return refused(error as Error);
  }
  // From here on the source tells when it is gone.
  await read(secrets, object, wanted);
  return { ok: true, value: data[wanted.key] as string };
}

/** Whether it was made for this object and not for another one that names it. */
function isOf({ key, generate }: ObjectSecret, member: (key: string) => unknown): boolean {
  return Object.entries(generate?.() ?? {}).every(([name, value]) => name === key || member(name) === value);
}

function foreign(place: string): SecretRead {
  return notFound(
    `A Secret ${place} exists that Accord did not create for this object. Choose another name, or delete it.`,
  );
}

/** A refusal is an answer, which holds until the source tells of another. */
async function read(secrets: SecretAccess, { namespace, key }: SourceObject, { name }: ObjectSecret) {
  try {
    return await secrets.read(namespace, name, key);
  } catch (error) {
    if ((error as { status?: unknown }).status !== 403) throw error;
    return error as Error;
  }
}

function valueIn(
  data: Readonly<Record<string, Buffer>>,
  { key, field }: ObjectSecret,
  place: string,
): { ok: true; value: string } | ({ ok: false } & Refusal) {
  const bytes = Object.hasOwn(data, key) ? data[key] : undefined;
  if (bytes === undefined || bytes.length === 0) return notFound(`Secret ${place} of ${field} has no key ${key}.`);
  const value = textOf(bytes);
  if (value !== undefined) return { ok: true, value };
  return notFound(`Key ${key} of Secret ${place} of ${field} is too long or not UTF-8 text.`);
}

async function inFile(directory: string, wanted: ObjectSecret): Promise<SecretRead> {
  const path = join(directory, `${wanted.name}.json`);
  const found = await readMembers(path);
  if (typeof found?.[wanted.key] === 'string') {
    return isOf(wanted, (key) => found[key]) ? { ok: true, value: found[wanted.key] as string } : foreign(path);
  }
  const data = wanted.generate?.() ?? {};
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const beside = `${path}.${randomUUID()}`;
  try {
    await writeFile(beside, `${JSON.stringify(data, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    await rename(beside, path);
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  }
  return { ok: true, value: data[wanted.key] as string };
}

/** What does not read as members is not kept: the file is ours. */
async function readMembers(path: string): Promise<Record<string, unknown> | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
