import { type Asked, type QuestionOf, refusalOf } from './guard.ts';

type Reply = {
  code(status: number): unknown;
  type(contentType: string): unknown;
  send(body: string): unknown;
};

/**
 * A preHandler that lets a request through only when the answer is an explicit allow: 403 otherwise, and 503 when there is
 * no answer.
 * @param questionOf what is asked; undefined refuses
 */
export function fastifyGuard<Request>(accord: Asked, questionOf: QuestionOf<Request>) {
  return async (request: Request, reply: Reply): Promise<unknown> => {
    const refused = await refusalOf(accord, questionOf, request);
    if (refused === undefined) return undefined;
    reply.code(refused.status);
    reply.type(refused.type);
    reply.send(refused.body);
    return reply;
  };
}
