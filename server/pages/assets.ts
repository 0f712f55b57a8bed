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
const THEME = fingerprint(themeCss('#123456', '#fedcba'));

export const styleAddress = `/assets/${style.file}`;
export const passkeyScriptAddress = `/assets/${passkey.file}`;

export const invitationScriptAddress = `/assets/${invitation.file}`;

export const formPostScriptAddress = `/assets/${formPost.file}`;

export function themeAddress({ colour, colourDark }: Brand): string {
  const light = isColour(colour) ? colour : defaultColour;
  const dark = isColour(colourDark) ? colourDark : light;
  return `/assets/theme-${THEME}-${light.slice(1).toLowerCase()}-${dark.slice(1).toLowerCase()}.css`;
}

function themeOf(file: string) {
  const [, made, light, dark] = /^theme-([\w-]{12})-([0-9a-f]{6})-([0-9a-f]{6})\.css$/.exec(file) ?? [];
  return made === THEME ? { type: types.css, body: themeCss(`#${light}`, `#${dark}`) } : undefined;
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
      const found = assets.get(file) ?? themeOf(file);
      if (found === undefined) throw problem('not_found');
      return reply.headers(headers).type(found.type).send(found.body);
    },
  });
}
