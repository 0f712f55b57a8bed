import { type Asked, type QuestionOf, type Refusal, refusalOf } from './guard.ts';

export type { Refusal } from './guard.ts';

type Sendable = {
  code(status: number): unknown;
  type(contentType: string): unknown;
  send(body: string): unknown;
};

/**
 * A preHandler that lets a request through only when the answer is an explicit allow: 403 otherwise, and 503 when there is
 * no answer.
 * @param questionOf what is asked; undefined refuses
 * @param options.refused sends another answer than the guard's, such as a page that shows `refusal.decision.reason`. The
 * request goes no further, whatever it does
 */
export function fastifyGuard<Request, Reply extends Sendable = Sendable>(
  accord: Asked,
  questionOf: QuestionOf<Request>,
  options: { refused?: (refusal: Refusal, request: Request, reply: Reply) => unknown } = {},
) {
  return async (request: Request, reply: NoInfer<Reply>): Promise<unknown> => {
    const refused = await refusalOf(accord, questionOf, request);
    if (refused === undefined) return undefined;
    if (options.refused !== undefined) {
      await options.refused(refused, request, reply);
      return reply;
    }
    reply.code(refused.status);
    reply.type(refused.type);
    reply.send(refused.body);
    return reply;
  };
}
