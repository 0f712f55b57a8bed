/** Complete lists that may be long: sent as JSON text page by page as it is read, so that none is held as a whole. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** `rows`: the first page, which is not the last; `next`: the page behind a row. */
type Pages<Row> = {
  rows: Row[];
  next(last: Row): Promise<{ rows: Row[]; more: boolean }>;
  view(row: Row): unknown;
};

/** @param around the JSON text in front of the items, and behind them */
export function sendList<Row>(
  reply: Pick<FastifyReply, 'type'>,
  [before, after]: readonly [string, string],
  pages: Pages<Row>,
): FastifyReply {
  async function* text(): AsyncGenerator<string> {
    const items = (rows: Row[]) => rows.map((row) => JSON.stringify(pages.view(row))).join(',');
    let last = pages.rows.at(-1);
    yield before + items(pages.rows);
    while (last !== undefined) {
      const { rows, more } = await pages.next(last);
      if (rows.length > 0) yield `,${items(rows)}`;
      last = more ? rows.at(-1) : undefined;
    }
    yield after;
  }
  return reply.type('application/json').send(Readable.from(text()));
}
