/** Who is logged in, by a random id in a cookie. Sessions are in memory: a larger application keeps them in its database. */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type Session = {
  /** The id of the user's account, which is the id of the actor in policies and relationships. */
  sub: string;
  name: string;
  idToken: string;
  accessToken: () => Promise<string>;
};

/** What a log-in that is under way has to be compared with. */
export type Begun = { state: string; nonce: string; verifier: string; returnTo: string };

const MOST = 10_000;
const SESSION_SECONDS = 12 * 3600;
const LOG_IN_SECONDS = 3600;

function store<Value>(cookie: string, seconds: number, secure: boolean, ended: (value: Value) => void = () => {}) {
  const kept = new Map<string, { value: Value; until: number }>();
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  const idOf = (request: FastifyRequest) =>
    new RegExp(`(?:^|; )${cookie}=([\\w-]{43})(?:;|$)`).exec(request.headers.cookie ?? '')?.[1] ?? '';
  /** The cookie is worth nothing from now on, whoever has it. */
  const end = (request: FastifyRequest) => {
    const id = idOf(request);
    const found = kept.get(id);
    kept.delete(id);
    if (found !== undefined) ended(found.value);
  };
  return {
    get(request: FastifyRequest): Value | undefined {
      const found = kept.get(idOf(request));
      return found && found.until > Date.now() ? found.value : undefined;
    },
    put(reply: FastifyReply, value: Value): void {
      const id = randomBytes(32).toString('base64url');
      kept.set(id, { value, until: Date.now() + seconds * 1000 });
      const [oldest] = kept.keys();
      if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
      reply.header('set-cookie', `${cookie}=${id}; Max-Age=${seconds}; ${attributes}`);
    },
    end,
    remove(request: FastifyRequest, reply: FastifyReply): void {
      end(request);
      reply.header('set-cookie', `${cookie}=; Max-Age=0; ${attributes}`);
    },
  };
}

/**
 * @param url of the application: over https, cookies go over https only
 * @param ended what else ends with a session
 */
export function createSessions(url: string, ended: (session: Session) => void) {
  const secure = url.startsWith('https:');
  return {
    sessions: store<Session>('session', SESSION_SECONDS, secure, ended),
    begun: store<Begun>('log-in', LOG_IN_SECONDS, secure),
  };
}

export type Sessions = ReturnType<typeof createSessions>;
