/** A real identity provider's essentials on loopback: a discovery document, a key set over HTTP, and signed tokens. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { closeAtEnd } from '../../helpers/closing.ts';

type Key = { kid: string; alg: 'ES256' | 'RS256'; privateKey: CryptoKey; jwk: JWK };

class IdentityProvider {
  readonly issuer: string;
  readonly keys: Key[] = [];
  /** Paths that were asked for, in order. */
  readonly requests: string[] = [];
  /** Answers instead of the usual documents while it is set. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** What the discovery document says the issuer is. */
  statedIssuer: string;
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.statedIssuer = this.issuer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
  get jwksUri(): string {
    return `${this.issuer}/keys`;
  }
  /** How often the key set was read. */
  get reads(): number {
    return this.requests.filter((path) => path === '/keys').length;
  }

  async addKey(kid: string, alg: 'ES256' | 'RS256' = 'ES256'): Promise<Key> {
    const pair = await generateKeyPair(alg, { extractable: true });
    const jwk = { ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' };
    const key = { kid, alg, privateKey: pair.privateKey, jwk };
    this.keys.push(key);
    return key;
  }

  removeKey(kid: string): void {
    const at = this.keys.findIndex((key) => key.kid === kid);
    this.keys.splice(at, 1);
  }

  /** Signs exactly these claims and header members, right or wrong. */
  async sign(claims: JWTPayload, header: Record<string, unknown> = {}, key = this.keys[0] as Key): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    this.requests.push(path);
    if (this.answer) {
      this.answer(request, response);
      return;
    }
    response.setHeader('content-type', 'application/json');
    if (path === '/keys') response.end(JSON.stringify({ keys: this.keys.map((key) => key.jwk) }));
    else if (path === '/.well-known/openid-configuration') {
      response.end(JSON.stringify({ issuer: this.statedIssuer, jwks_uri: this.jwksUri }));
    } else response.writeHead(404).end();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}

/** Starts one that lives as long as the test file. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const server = createServer((request, response) => provider.handle(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const provider = new IdentityProvider(server);
  closeAtEnd(() => provider.close());
  return provider;
}
