/** Verifying the ledger of a tenant by a request: what was found as JSON, or as lines that say before how far it is. */
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { Caller } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { asksFor } from '../http/accept.ts';
import { type App, TenantParams, whileConnected } from '../http/fastify.ts';
import { exportTypes } from '../http/open-exports.ts';
import { actedBy } from './acting.ts';
import type { Ledger } from './append.ts';
import type { DeniedRequestRecorder } from './denied-request-recorder.ts';
import { ledgerProblems } from './diagnose.ts';
import { ledgerProblem } from './problems.ts';
import { readers } from './readers.ts';
import { type Verification, verifyLedger } from './verify.ts';

type VerificationRouteServices = {
  database: Database;
  clock: Clock;
  ledger: Ledger;
  deniedRequests: DeniedRequestRecorder;
};

const Verified = Type.Object({
  valid: Type.Boolean(),
  entries: Type.Integer({ description: 'Number of entries, from the first on, that match their seals.' }),
  checkpoint: Type.Optional(
    Type.String({
      description: 'The newest checkpoint, a compact JWS. Keep it and send it with the next verification.',
    }),
  ),
  firstBad: Type.Optional(
    Type.Object({ sequence: Type.Integer(), id: Type.Optional(Type.String()), problem: Type.Enum(ledgerProblems) }),
  ),
});
const description = `Recomputes every hash and names the first entry that was changed, removed, inserted, reordered or cut off. A million entries take seconds. With the header Accept: ${exportTypes.ndjson} the answer is lines: {"progress": {"entries", "of"}} after each thousand entries, and as the last line the result. An answer that ends without a result verified nothing. The verification is recorded as an entry.`;
const Query = Type.Object(
  {
    checkpoint: Type.Optional(
      Type.String({
        maxLength: limits.ledgerCheckpointCharsMax,
        description: 'An earlier checkpoint to compare with.',
      }),
    ),
  },
  { additionalProperties: false },
);

export function registerVerification(app: App, services: VerificationRouteServices): void {
  const { errorHandler } = services.deniedRequests;
  const running = new Set<string>();
  for (const { prefix, config } of readers) {
    app.route({
      method: 'GET',
      url: `${prefix}/consents/events/verify`,
      config,
      errorHandler,
      schema: {
        ...{ summary: 'Verify the chain of sealed entries', description },
        ...{ params: TenantParams, querystring: Query, response: { 200: Verified } },
      },
      handler: async (request, reply) => {
        const { tenant } = request.params;
        if (running.has(tenant) || running.size >= limits.ledgerVerificationsMax) {
          throw ledgerProblem('verifications_busy');
        }
        const { checkpoint } = request.query;
        const earlier = checkpoint === undefined ? {} : { earlier: checkpoint };
        const signal = whileConnected(reply);
        const verify = async (onProgress?: Progress): Promise<Verification> => {
          running.add(tenant);
          try {
            const told = onProgress === undefined ? {} : { onProgress };
            const verified = await verifyLedger(services, tenant, { ...earlier, ...told, signal });
            const read = { ...actedBy(request.caller as Caller), type: 'read', outcome: 'verification' } as const;
            await services.ledger.append(tenant, [{ ...read, time: services.clock.now(), requestId: request.id }]);
            return verified;
          } finally {
            running.delete(tenant);
          }
        };
        if (!asksFor(request.headers.accept, exportTypes.ndjson)) return verify();
        return sendLines(reply, await linesOf(verify));
      },
    });
  }
}

const sendLines = (reply: Pick<FastifyReply, 'type'>, lines: Readable) => reply.type(exportTypes.ndjson).send(lines);

type Progress = (entries: number, of: number) => void;

/** Lines from the first progress on. What fails before is an answer of its own; what fails later cuts the lines off. */
function linesOf(verify: (onProgress: Progress) => Promise<Verification>): Promise<Readable> {
  return new Promise((resolve, reject) => {
    const lines = new Readable({ read() {} });
    let hasBegun = false;
    const say = (line: object) => {
      if (lines.destroyed) return;
      lines.push(`${JSON.stringify(line)}\n`);
      hasBegun = true;
      resolve(lines);
    };
    verify((entries, of) => say({ progress: { entries, of } })).then(
      (verified) => {
        say(verified);
        lines.push(null);
      },
      (error) => {
        if (hasBegun) lines.destroy(error);
        else reject(error);
      },
    );
  });
}
