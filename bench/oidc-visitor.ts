/** A browser of a few lines that logs in: it follows redirects and refreshes, and keeps cookies by path. */
import { createHash, randomBytes } from 'node:crypto';

type Page = { left?: URL; text: string; path: string };
export type Person = { email: string; password: string };

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

export class Visitor {
  readonly #port: number;
  readonly #baseUrl: string;
  readonly #tenant: string;
  readonly #cookies = new Map<string, { path: string; pair: string }>();
  readonly #verifier = randomBytes(32).toString('base64url');

  constructor(port: number, baseUrl: string, tenant: string) {
    this.#port = port;
    this.#baseUrl = baseUrl;
    this.#tenant = tenant;
  }

  /** Up to the page that asks for the password. */
  open(clientId: string, redirectUri: string, more: Record<string, string> = {}): Promise<Page> {
    const query = new URLSearchParams({
      ...{ client_id: clientId, redirect_uri: redirectUri, response_type: 'code', scope: 'openid', state: 's' },
      ...{ code_challenge: challengeOf(this.#verifier), code_challenge_method: 'S256', ...more },
    });
    return this.#go(`/${this.#tenant}/oidc/authorize?${query}`);
  }

  /** From there to the redirect to the application. @returns the code */
  async logIn(page: Page, { email, password }: Person): Promise<string> {
    const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    const { left, text } = await this.#go(`${page.path}/log-in`, new URLSearchParams({ csrf, email, password }));
    const code = left?.searchParams.get('code');
    if (!code) throw new Error(`no code: ${left ?? text.replace(/<style.*?<\/style>/gs, '')}`);
    return code;
  }

  async exchange(code: string, clientId: string, redirectUri: string): Promise<Record<string, string>> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/${this.#tenant}/oidc/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...{ grant_type: 'authorization_code', client_id: clientId, redirect_uri: redirectUri },
        ...{ code, code_verifier: this.#verifier },
      }),
    });
    return (await answer.json()) as Record<string, string>;
  }

  async #go(path: string, form?: URLSearchParams): Promise<Page> {
    let [at, body] = [path, form];
    for (let step = 0; step < 10; step++) {
      const here = at.replace(/\?.*/s, '');
      const cookie = [...this.#cookies.values()].filter((one) => here.startsWith(one.path)).map(({ pair }) => pair);
      const answer = await fetch(`http://127.0.0.1:${this.#port}${at}`, {
        method: body ? 'POST' : 'GET',
        redirect: 'manual',
        headers: { accept: 'text/html', cookie: cookie.join('; ') },
        ...(body ? { body } : {}),
      });
      this.#take(answer, here);
      const text = await answer.text();
      const onward = answer.headers.get('location') ?? answer.headers.get('refresh')?.replace(/^0; ?url=/, '');
      if (!onward) return { text, path: here };
      const next = new URL(onward, this.#baseUrl + here);
      if (next.origin !== this.#baseUrl) return { left: next, text, path: here };
      [at, body] = [next.pathname + next.search, undefined];
    }
    throw new Error('too many redirects');
  }

  #take(answer: Response, here: string): void {
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const path = /;\s*path=([^;]*)/i.exec(line)?.[1] ?? here;
      const key = `${pair.split('=')[0]} ${path}`;
      if (/expires=Thu, 01 Jan 1970/i.test(line)) this.#cookies.delete(key);
      else this.#cookies.set(key, { path, pair });
    }
  }
}
