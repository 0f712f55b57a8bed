/** A browser without JavaScript, as far as our pages need one: cookies by path, redirects, forms as they are shown. */
import type { TestServer } from './server.ts';

export const base = 'http://accord.test';

type Cookie = { name: string; value: string; path: string };
export type Page = { status: number; url: string; html: string; text: string };

export class Browser {
  readonly #server: TestServer;
  readonly #languages: Record<string, string>;
  #cookies: Cookie[] = [];

  /** @param language Accept-Language */
  constructor(server: TestServer, { language }: { language?: string } = {}) {
    this.#server = server;
    this.#languages = language === undefined ? {} : { 'accept-language': language };
  }

  get cookies(): readonly Cookie[] {
    return this.#cookies;
  }

  /** Plants cookies, or takes them away. */
  replaceCookies(cookies: readonly Cookie[]): void {
    this.#cookies = [...cookies];
  }

  async get(url: string): Promise<Page> {
    return this.#ask('GET', new URL(url, base));
  }

  /** Posts a form of a page: the one whose action ends so, with its hidden fields. */
  async submit(page: Page, action: string, fields: Record<string, string> = {}): Promise<Page> {
    const form = formsOf(page).find((one) => one.action.endsWith(action));
    if (form === undefined) throw new Error(`no form with the action …${action} at ${page.url}:\n${page.text}`);
    return this.post(form.action, { ...form.hidden, ...fields });
  }

  async post(url: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Page> {
    return this.#ask('POST', new URL(url, base), new URLSearchParams(fields).toString(), headers);
  }

  async #ask(method: 'GET' | 'POST', url: URL, payload?: string, more: Record<string, string> = {}): Promise<Page> {
    const cookie = this.#cookies
      .filter(({ path }) => url.pathname === path || url.pathname.startsWith(path.endsWith('/') ? path : `${path}/`))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const response = await this.#server.app.inject({
      method,
      url: url.pathname + url.search,
      headers: {
        accept: 'text/html',
        ...this.#languages,
        ...(cookie === '' ? {} : { cookie }),
        ...(payload === undefined
          ? {}
          : { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }),
        ...more,
      },
      ...(payload === undefined ? {} : { payload }),
    });
    for (const line of [response.headers['set-cookie'] ?? []].flat()) this.#keep(line, url);
    const { location, refresh } = response.headers;
    const next = location ?? (typeof refresh === 'string' ? /url=(.*)$/.exec(refresh)?.[1] : undefined);
    if (next !== undefined && new URL(next, url).origin === base) return this.#ask('GET', new URL(next, url));
    const html = response.body;
    return { status: response.statusCode, url: url.pathname + url.search, html, text: textOf(html) };
  }

  #keep(line: string, url: URL): void {
    const [pair = '', ...attributes] = line.split(';').map((one) => one.trim());
    const at = pair.indexOf('=');
    const attribute = (name: string) =>
      attributes.find((one) => one.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
    const path = attribute('path') ?? (url.pathname.replace(/\/[^/]*$/, '') || '/');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    this.#cookies = this.#cookies.filter((one) => one.name !== name || one.path !== path);
    const expires = attribute('expires');
    const isGone = attribute('max-age') === '0' || (expires !== undefined && Date.parse(expires) <= 1000);
    if (!isGone) this.#cookies.push({ name, value, path });
  }
}

function formsOf({ html }: Page): { action: string; hidden: Record<string, string> }[] {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, attributes = '', inside = '']) => ({
    action: unescaped(/action="([^"]*)"/.exec(attributes)?.[1] ?? ''),
    hidden: Object.fromEntries(
      [...inside.matchAll(/<input\b([^>]*type="hidden"[^>]*)>/g)].map(([, input = '']) => [
        /name="([^"]*)"/.exec(input)?.[1] ?? '',
        unescaped(/value="([^"]*)"/.exec(input)?.[1] ?? ''),
      ]),
    ),
  }));
}

const unescaped = (text: string) =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

const textOf = (html: string) =>
  unescaped(
    html
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
