export { type AccordClient, type Answer, type ClientOptions, createClient } from './client.ts';
export { type Decision, isAllowed, type Question } from './decision.ts';
export {
  AccordError,
  AccordNetworkError,
  AccordResponseError,
  AccordTimeoutError,
  AccordTokenError,
  type WrongPlace,
} from './errors.ts';
export type { ProblemCode } from './generated/problems.ts';
export type { ClientCredentials, TokenOption } from './token.ts';
export type { CallOptions, DataOf, Method, PathOf, RequestOf } from './types.ts';
export { AccordWebhookError, verifyWebhook, type WebhookRequest } from './webhook.ts';
