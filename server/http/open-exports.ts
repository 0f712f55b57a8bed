/** Exports that are being sent: each holds a page for as long as its reader does not take it, so they are counted by tenant. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { problem } from '../core/problems.ts';

export const exportTypes = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' } as const;
export type ExportFormat = keyof typeof exportTypes;
export const exportFormats = ['ndjson', 'csv'] as const satisfies readonly ExportFormat[];

export class OpenExports {
  readonly #max: number;
  readonly #open = new Map<string, number>();

  /** @param max of a tenant at once */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Begins one; it is counted until all of it is taken or the connection is gone.
   * @throws Problem exports_busy
   */
  begin(tenant: string, reply: FastifyReply, pages: AsyncIterable<string>): Readable {
    if ((this.#open.get(tenant) ?? 0) >= this.#max) throw problem('exports_busy');
    const text = Readable.from(pages);
    this.#count(tenant, 1);
    text.once('close', () => this.#count(tenant, -1));
    reply.raw.once('close', () => text.destroy()); // also when it goes before anything was sent
    return text;
  }

  #count(tenant: string, more: number): void {
    const now = (this.#open.get(tenant) ?? 0) + more;
    if (now === 0) this.#open.delete(tenant);
    else this.#open.set(tenant, now);
  }
}
