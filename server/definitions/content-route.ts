/**
 * /{tenant}/consents/documents: the text of a document in effect, for everybody: receipts name the address, and links have no token. It
 * is shown and never acts: HTML is sanitized when it is stored, and the policy of the answer runs nothing.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { Type } from 'typebox';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { App } from '../http/fastify.ts';
import { matchesIfNoneMatch } from '../http/if-none-match.ts';
import { type DocumentName, documentUrl } from './address.ts';
import { verifiedBody } from './content.ts';
import { plainTextOf } from './html.ts';
import { isTag } from './languages.ts';
import { definitionProblem } from './problems.ts';
import type { Content } from './schema.ts';
import { readContent } from './store.ts';

type ContentServices = { database: Database; clock: Clock };

const headers = {
  'cache-control': 'no-cache', // kept, and asked for again
  // No frame-ancestors: an application may show the text in a frame, in which there is nothing to click but links.
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  vary: 'accept',
};

export function registerContentRoute(app: App, { database, clock }: ContentServices): void {
  const plainTexts = new LRUCache<string, string>({ max: limits.plainTextsKept });
  app.route({
    method: 'GET',
    url: '/:tenant/consents/documents/:name/:version/:document/:language',
    config: { access: { api: 'public', scarce: true }, anyOrigin: true },
    schema: {
      tags: ['Consents'],
      summary: 'The text of a consent document in effect',
      description:
        'For everybody; receipts name this address. The text as its digest says it, or the plain text of HTML where Accept prefers text/plain. A document whose content is a url redirects there.',
      params: Type.Object({
        ...{ tenant: Type.String(), name: Type.String(), version: Type.String() },
        ...{ document: Type.String(), language: Type.String() },
      }),
      security: [],
      produces: ['text/plain', 'text/html'],
    },
    handler: async (request, reply) => {
      const { tenant, name, version, language } = request.params;
      const document = { name, version, document: { version: request.params.document, language } };
      const row = await database.read(tenant, (tx) => readContent(tx, tenant, document));
      if (!row?.content || clock.now() < Date.parse(row.effective_date)) {
        throw definitionProblem('consent_content_not_found');
      }
      const { content, body } = row;
      if (content.url !== undefined) return reply.headers(headers).redirect(content.url, 302);
      const text = verifiedBody(content, body, documentUrl('', tenant, document));
      const mediaType = chosenType(request, content.mediaType);
      reply.headers({ ...headers, ...ofLanguage(language) }).type(`${mediaType}; charset=utf-8`);
      const digest = content.digest as string;
      if (mediaType === content.mediaType) {
        const bytes = Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64');
        reply.header('repr-digest', `sha-256=:${bytes}:`); // RFC 9530
        return answer(request, reply, `"${digest}"`, () => text);
      }
      // Weak: another version of the library may lay the same words out otherwise.
      return answer(request, reply, `W/"${digest};${mediaType}"`, () => {
        const known = plainTexts.get(digest) ?? plainTextOf(text);
        plainTexts.set(digest, known);
        return known;
      });
    },
  });
}

/** @throws Problem consent_content_not_acceptable */
function chosenType(request: FastifyRequest, mediaType: Content['mediaType']): string {
  const available = mediaType === 'text/html' ? ['text/html', 'text/plain'] : [mediaType];
  const chosen = new Negotiator(request).mediaType(available);
  if (chosen !== undefined) return chosen;
  throw definitionProblem('consent_content_not_acceptable', {
    detail: `It is available as ${available.join(' and ')}.`,
  });
}

/** A language may also be another name of an audience, which the header does not take. */
function ofLanguage(language: string): Record<string, string> {
  return isTag(language) ? { 'content-language': language } : {};
}

function answer(request: FastifyRequest, reply: FastifyReply, etag: string, text: () => string) {
  reply.header('etag', etag);
  return matchesIfNoneMatch(request, etag) ? reply.status(304).send() : reply.send(text());
}

/** The body of a content that has one. @throws Problem consent_content_damaged */
export async function readBody(
  tx: Transaction,
  tenant: string,
  document: DocumentName,
  content: Content,
): Promise<string | undefined> {
  if (content.url !== undefined) return undefined;
  const row = await readContent(tx, tenant, document);
  return verifiedBody(content, row?.body ?? null, documentUrl('', tenant, document));
}
