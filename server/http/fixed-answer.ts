/** An answer that is the same for everybody until the process ends: made once, as bytes, also compressed. */
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { matchesIfNoneMatch } from './if-none-match.ts';

type Made = { etag: string; bytes: ReadonlyMap<string, Buffer> };

export class FixedAnswer {
  readonly #type: string;
  readonly #text: () => string;
  #made: Promise<Made> | undefined;

  /** @param text asked when it is first requested */
  constructor(type: string, text: () => string) {
    this.#type = type;
    this.#text = text;
  }

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    this.#made ??= make(this.#text());
    const { etag, bytes } = await this.#made;
    // Kept, and asked for again: another version of the server has another one.
    const vary = reply.getHeader('vary'); // of the origin
    reply.headers({ 'cache-control': 'no-cache', vary: vary ? `${vary}, accept-encoding` : 'accept-encoding', etag });
    if (matchesIfNoneMatch(request, etag)) return reply.status(304).send();
    const encoding = new Negotiator(request).encoding([...bytes.keys()]) ?? 'identity';
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply.type(this.#type).send(bytes.get(encoding));
  }
}

async function make(text: string): Promise<Made> {
  const bytes = Buffer.from(text);
  const [br, gz] = await Promise.all([promisify(brotliCompress)(bytes), promisify(gzip)(bytes)]);
  // Weak: one for all encodings.
  const etag = `W/"${hash('sha256', bytes, 'base64url')}"`;
  return {
    etag,
    bytes: new Map([
      ['br', br],
      ['gzip', gz],
      ['identity', bytes],
    ]),
  };
}
