/**
 * Hints that something below a directory changed. Each directory is watched by itself: a recursive fs.watch on Linux
 * watches every file as well, and stays with the old directory when that is replaced. The re-scan is the truth.
 */
import { type FSWatcher, watch } from 'node:fs';

export class Watches {
  readonly #hint: () => void;
  readonly #watchers = new Map<string, FSWatcher>();

  constructor(hint: () => void) {
    this.#hint = hint;
  }

  /**
   * Watches exactly these directories (path by identity).
   * @returns whether one is new: what happened in it before now went unseen
   */
  follow(directories: ReadonlyMap<string, string>): boolean {
    for (const [identity, watcher] of this.#watchers) {
      if (directories.has(identity)) continue;
      watcher.close();
      this.#watchers.delete(identity);
    }
    let added = false;
    for (const [identity, directory] of directories) {
      if (this.#watchers.has(identity)) continue;
      added = this.#watch(identity, directory) || added;
    }
    return added;
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Without a watch (too many of them, the directory gone) the re-scan finds what changes. */
  #watch(identity: string, directory: string): boolean {
    try {
      const watcher = watch(directory, () => this.#hint());
      watcher.on('error', () => {
        watcher.close();
        this.#watchers.delete(identity);
      });
      this.#watchers.set(identity, watcher);
      return true;
    } catch {
      return false;
    }
  }
}
