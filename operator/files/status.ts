/** The status of manifests as files beside the data: one YAML document each, replaced as a whole, only when it differs. */
import { createHash, randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { apiVersion } from '../../crds/index.ts';
import type { ResourceStatus, StatusTarget } from '../source.ts';

export class StatusFiles {
  readonly #directory: string;
  #made: Promise<unknown> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async write(target: StatusTarget, status: ResourceStatus): Promise<void> {
    const { kind, namespace, name, uid, generation } = target;
    const metadata = { name, ...(namespace === '' ? {} : { namespace }), uid, generation };
    const text = stringify({ apiVersion, kind, metadata, status }, { lineWidth: 0 });
    const path = this.#pathOf(target);
    this.#made ??= this.#make().catch((error) => {
      this.#made = undefined;
      throw error;
    });
    await this.#made;
    if ((await readFile(path, 'utf8').catch(() => undefined)) === text) return;
    const draft = join(this.#directory, `.${randomUUID()}.tmp`);
    try {
      await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
      await rename(draft, path);
    } catch (error) {
      this.#made = undefined; // somebody may have removed the directory
      await rm(draft, { force: true });
      throw error;
    }
  }

  async remove(target: StatusTarget): Promise<void> {
    await rm(this.#pathOf(target), { force: true });
  }

  /** For its owner only: what is wrong with a manifest may quote it. One that is there already is made so too. */
  async #make(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await chmod(this.#directory, 0o700);
  }

  /** Two long names may differ past what a file name holds. */
  #pathOf({ key, kind, namespace, name }: StatusTarget): string {
    const legible = [kind.toLowerCase(), namespace, name]
      .filter((part) => part !== '')
      .map(encodeURIComponent)
      .join('_');
    const file =
      legible.length <= 200
        ? legible
        : `${legible.slice(0, 150)}_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`;
    return join(this.#directory, `${file}.yaml`);
  }
}
