import { type Asked, type QuestionOf, refusalOf } from './guard.ts';

type Response = {
  status(code: number): unknown;
  type(contentType: string): unknown;
  send(body: string): unknown;
};

/**
 * Middleware of Express 4 and 5 that lets a request through only when the answer is an explicit allow: 403 otherwise, and
 * 503 when there is no answer. What `questionOf` throws goes to the error handler.
 * @param questionOf what is asked; undefined refuses
 */
export function expressGuard<Request>(accord: Asked, questionOf: QuestionOf<Request>) {
  return (request: Request, response: Response, next: (error?: unknown) => void): void => {
    refusalOf(accord, questionOf, request).then(
      (refused) => {
        if (refused === undefined) return next();
        response.status(refused.status);
        response.type(refused.type);
        response.send(refused.body);
      },
      (error: unknown) => next(error ?? new Error('the question failed')),
    );
  };
}
