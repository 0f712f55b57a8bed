/**
 * How a body becomes a value: JSON and nothing else, bounded before it is parsed, and its texts are texts. What comes
 * after may recurse over it, compare it and store it.
 */

import type { FastifyRequest } from 'fastify';
import { pointerStep } from '../../crds/values.ts';
import { isBounded } from '../core/bounded.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import { isText } from '../core/text.ts';
import type { App } from './fastify.ts';
import { checkStructure, TOO_DEEP } from './structure.ts';

const TOO_LARGE_NUMBER = 'The number is beyond the range of a double, ±1.8e308.';
const NOT_TEXT = 'The text contains a NUL character or an unpaired surrogate.';

/** Counts a body as so many more requests of its sender. */
type Charge = (request: FastifyRequest, count: number) => void;

/** Goes on with a request when it is its tenant's turn; all that follows at once is part of the turn. */
export type EnterTurn = (request: FastifyRequest, goOn: () => void) => void;

/**
 * Reads application/json; any other content type is 415. A JSON Content-Type without a body is fine where a body is
 * optional: clients send it on GET and DELETE too. To be called before the routes, each of which states how large its
 * body may be.
 */
export function readJsonBodies(app: App, charge: Charge, enterTurn: EnterTurn): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, request.body); // what the route takes in its place, if anything
    enterTurn(request, () => {
      let value: unknown;
      try {
        value = readJson(request, body as string, charge);
      } catch (error) {
        return done(error as Error);
      }
      done(null, value);
    });
  });
  app.addHook('onRoute', ({ method, url, schema, bodyLimit }) => {
    if (schema?.body !== undefined && bodyLimit === undefined)
      throw new Error(`the route ${String(method)} ${url} does not state how large its body may be (bodyLimit)`);
  });
  app.addHook('onError', (request, _reply, error, done) => {
    if ((error as { code?: string }).code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
      const announced = Number(request.headers['content-length']) || request.routeOptions.bodyLimit;
      charge(request, requestsOf(Math.min(announced, limits.batchBodyBytesMax)));
    }
    done();
  });
}

const requestsOf = (bytes: number): number => Math.floor(bytes / limits.bodyBytesPerRequest);

function readJson(request: FastifyRequest, body: string, charge: Charge): unknown {
  const checked = body.length > limits.uncheckedBodyCharsMax;
  if (checked) {
    const bytes = requestsOf(Buffer.byteLength(body));
    if (bytes > 0) charge(request, bytes); // also when it is refused
    const shapes = Math.floor(checkStructure(body, request.routeOptions.config?.isDocument) / limits.requestShapesMax);
    if (shapes > 0) charge(request, shapes);
  }
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw problem('invalid_request', { detail: `The body is not JSON: ${(error as Error).message}` });
  }
  // Only a body with an escape can have a text that is none (it came as UTF-8), and few have the one forbidden name.
  const suspect = body.includes('\\u') || body.includes('__proto__');
  // The usual body: findUnusable costs ten times as much (V8 compiles its for-in over arrays again and again).
  if (!suspect && isBounded(value, limits.inputDepthMax)) return value;
  const found = findUnusable(value, limits.inputDepthMax, suspect);
  if (found === undefined) return value;
  const place = { pointer: `/${found.path.reverse().map(pointerStep).join('/')}`, detail: found.detail };
  throw problem('invalid_request', { detail: `${place.pointer}: ${place.detail}`, errors: [place] });
}

type Unusable = { detail: string; path: string[] };

/**
 * The first place that nothing here can work with: nested too deeply, a number that no double holds, or a text that is none
 * (RFC 7493 sections 2.1 and 2.2; Postgres holds no NUL).
 */
function findUnusable(value: unknown, levels: number, suspect: boolean): Unusable | undefined {
  if (typeof value === 'string') return suspect && !isText(value) ? { detail: NOT_TEXT, path: [] } : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { detail: TOO_LARGE_NUMBER, path: [] };
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return { detail: TOO_DEEP, path: [] };
  for (const name in value) {
    if (suspect && !isText(name)) return { detail: `The name of a field: ${NOT_TEXT}`, path: [] };
    if (suspect && name === '__proto__') return { detail: 'This field name is not allowed.', path: [name] };
    const found = findUnusable((value as Record<string, unknown>)[name], levels - 1, suspect);
    if (found === undefined) continue;
    found.path.push(name);
    return found;
  }
  return undefined;
}

/** `onRequest` of a route whose body is optional: what is sent takes the place of this one. */
export function optionalBody(request: { body: unknown }, _reply: unknown, done: () => void): void {
  request.body = {};
  done();
}
