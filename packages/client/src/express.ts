import { type Asked, type QuestionOf, type Refusal, refusalOf } from './guard.ts';

export type { Refusal } from './guard.ts';

type Sendable = {
  status(code: number): unknown;
  type(contentType: string): unknown;
  send(body: string): unknown;
};

/**
 * Middleware of Express 4 and 5 that lets a request through only when the answer is an explicit allow: 403 otherwise, and
 * 503 when there is no answer. What `questionOf` and `refused` throw goes to the error handler.
 * @param questionOf what is asked; undefined refuses
 * @param options.refused sends another answer than the guard's, such as a page that shows `refusal.decision.reason`. The
 * request goes no further, whatever it does
 */
export function expressGuard<Request, Response extends Sendable = Sendable>(
  accord: Asked,
  questionOf: QuestionOf<Request>,
  options: { refused?: (refusal: Refusal, request: Request, response: Response) => unknown } = {},
) {
  const guard = async (request: Request, response: Response): Promise<boolean> => {
    const refused = await refusalOf(accord, questionOf, request);
    if (refused === undefined) return true;
    if (options.refused !== undefined) {
      await options.refused(refused, request, response);
      return false;
    }
    response.status(refused.status);
    response.type(refused.type);
    response.send(refused.body);
    return false;
  };
  return (request: Request, response: NoInfer<Response>, next: (error?: unknown) => void): void => {
    guard(request, response).then(
      (passes) => (passes ? next() : undefined),
      (error: unknown) => next(error ?? new Error('the question failed')),
    );
  };
}
