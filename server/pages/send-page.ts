import type { FastifyReply } from 'fastify';
import type { RenderedPage } from './layout.ts';

export const sendPage = (reply: FastifyReply, { headers, body }: RenderedPage, status = 200) =>
  reply.status(status).headers(headers).send(body);
