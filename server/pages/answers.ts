/** How routes of pages answer: errors as pages, forms that are posted, and the way on behind a form. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pointerStep } from '../../crds/values.ts';
import { Problem, problem } from '../core/problems.ts';
import { isText } from '../core/text.ts';
import type { App } from '../http/fastify.ts';
import { type ErrorPageProps, errorPage } from './error-page.ts';
import type { PageContext } from './layout.ts';
import { redirectPage } from './redirect-page.ts';
import { sendPage } from './send-page.ts';

/** The fields of a form. */
export type Posted = Readonly<Record<string, string | undefined>>;

/** The page that stands in place of what was asked for. */
export class PageError extends Error {
  readonly props: ErrorPageProps;
  readonly status: number;
  constructor(status: number, props: ErrorPageProps) {
    super(props.kind);
    this.status = status;
    this.props = props;
  }
}

const kinds: Partial<Record<number, ErrorPageProps['kind']>> = {
  403: 'access_denied',
  404: 'not_found',
  410: 'link_invalid',
  429: 'too_many',
  503: 'unavailable',
};

/** The page of an error that is known; undefined: the request failed. */
function pageErrorOf(error: unknown): PageError | undefined {
  if (error instanceof PageError) return error;
  if (!(error instanceof Problem) || error.status === 500) return undefined;
  const { status, code, message, headers } = error;
  const retryAfter = headers['retry-after'];
  return new PageError(status, {
    ...{ kind: kinds[status] ?? 'invalid_request', code, description: message },
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) }),
  });
}

/** An error of a page is a page. @throws the error itself where it is not known: the request failed */
export function sendErrorPage(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  contextOf: () => PageContext,
): FastifyReply {
  const shown = pageErrorOf(error);
  if (shown === undefined) throw error;
  if (shown.props.retryAfterSeconds !== undefined) reply.header('retry-after', shown.props.retryAfterSeconds);
  return sendPage(reply, errorPage(contextOf(), { ...shown.props, requestId: request.id }), shown.status);
}

/** The browser goes on to another address. A form's own redirects count for form-action, also those that follow: redirect-page.ts. */
export function leaveFor(
  url: string,
  request: FastifyRequest,
  reply: FastifyReply,
  contextOf: () => PageContext,
): FastifyReply {
  return request.method === 'GET' ? reply.redirect(url, 303) : sendPage(reply, redirectPage(contextOf(), url));
}

const NOT_TEXT = 'The text contains a NUL character.';

/** Registers routes whose only bodies are forms. @param bodyLimit bytes of one */
export function acceptForms(app: App, bodyLimit: number, register: (own: App) => void): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit },
      (_request, body, done) => {
        const fields = Object.fromEntries(new URLSearchParams(body as string));
        const wrong = Object.entries(fields).find(([, value]) => !isText(value));
        if (wrong === undefined) return done(null, fields);
        const errors = [{ pointer: `/${pointerStep(wrong[0])}`, detail: NOT_TEXT }];
        done(problem('invalid_request', { detail: `${errors[0]?.pointer}: ${NOT_TEXT}`, errors }));
      },
    );
    register(scope as unknown as App);
  });
}
