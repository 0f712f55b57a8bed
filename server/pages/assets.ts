/**
 * Style sheets and the scripts of the pages, each at an address that names its content, so that browsers keep it for a year. The theme's
 * address has the brand's colours: serving it needs no tenant. `assets` is a reserved tenant code.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import { problem } from '../core/problems.ts';
import type { App } from '../http/fastify.ts';
import { type Brand, defaultColour, isColour, themeCss } from './brand.ts';

const fingerprint = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 12);
const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' };

function asset(name: string, type: keyof typeof types) {
  const body = readFileSync(new URL(`assets/${name}.${type}`, import.meta.url), 'utf8');
  return { file: `${name}-${fingerprint(body)}.${type}`, type: types[type], body };
}
const style = asset('style', 'css');
const passkey = asset('passkey', 'js');
const invitation = asset('invitation', 'js');
const formPost = asset('form-post', 'js');
const icon = asset('icon', 'svg');
const assets = new Map([style, passkey, invitation, formPost].map((one) => [one.file, one]));

/** Changes with the way in which a theme is made of colours. */
const THEME = fingerprint(themeCss('#123456', '#fedcba', '#89abcd'));

/** Of a page that does not follow the browser's setting: `light` or `dark`. */
export type Scheme = 'light' | 'dark';
const always = (scheme: Scheme | undefined) => (scheme === undefined ? '' : `?scheme=${scheme}`);

export const styleAddress = (scheme?: Scheme): string => `/assets/${style.file}${always(scheme)}`;
export const passkeyScriptAddress = `/assets/${passkey.file}`;

export const invitationScriptAddress = `/assets/${invitation.file}`;

export const formPostScriptAddress = `/assets/${formPost.file}`;

export function themeAddress({ colour, colourDark, background }: Brand, scheme?: Scheme): string {
  const light = isColour(colour) ? colour : defaultColour;
  const dark = isColour(colourDark) ? colourDark : light;
  const colours = isColour(background) ? [light, dark, background] : [light, dark];
  return `/assets/theme-${[THEME, ...colours.map((one) => one.slice(1).toLowerCase())].join('-')}.css${always(scheme)}`;
}

/** A style sheet that does not ask the browser. */
function inScheme(css: string, scheme: Scheme): string {
  const media = scheme === 'dark' ? 'all' : 'not all';
  return css
    .replaceAll('(prefers-color-scheme: dark)', media)
    .replace('color-scheme: light dark', `color-scheme: ${scheme}`);
}

function themeOf(file: string) {
  const found = /^theme-([\w-]{12})-([0-9a-f]{6})-([0-9a-f]{6})(?:-([0-9a-f]{6}))?\.css$/.exec(file);
  const [, made, light, dark, background] = found ?? [];
  if (made !== THEME) return undefined;
  const behind = background === undefined ? undefined : `#${background}`;
  return { type: types.css, body: themeCss(`#${light}`, `#${dark}`, behind) };
}

const headers = {
  'cache-control': 'public, max-age=31536000, immutable',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
};

export function registerAssets(app: App): void {
  // Browsers ask for it by this name, whatever the page says.
  app.route({
    method: 'GET',
    url: '/favicon.ico',
    config: { access: { api: 'public' } },
    schema: { hide: true },
    handler: async (_, reply) =>
      reply
        .headers({ ...headers, 'cache-control': 'public, max-age=86400' })
        .type(icon.type)
        .send(icon.body),
  });
  app.route({
    method: 'GET',
    url: '/assets/:file',
    config: { access: { api: 'public' } },
    schema: { hide: true, params: Type.Object({ file: Type.String() }) },
    handler: async (request, reply) => {
      const { file } = request.params;
      const { scheme } = request.query as { scheme?: string };
      const found = assets.get(file) ?? themeOf(file);
      if (found === undefined) throw problem('not_found');
      const isForced = found.type === types.css && (scheme === 'light' || scheme === 'dark');
      const body = isForced ? inScheme(found.body, scheme) : found.body;
      return reply.headers(headers).type(found.type).send(body);
    },
  });
}
