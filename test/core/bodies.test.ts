/** How large a body may be, route by route, and how much structure it may have. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const backend = await server.client(tenant, 'pg:tenant:admin');
const member = await server.member(tenant, 'security-admin');
const json = { 'content-type': 'application/json' };
type Document = { paths: Record<string, Record<string, { requestBody?: { content: object } }>> };
const { paths } = server.app.swagger() as unknown as Document;

const { bodyBytesMax, configBodyBytesMax, smallBodyBytesMax } = limits;
/** Every operation with a body of JSON, and how large that may be. */
const bounds: Record<string, number> = {
  'POST /authz/{tenant}': bodyBytesMax,
  'POST /authz/{tenant}/batch': limits.batchBodyBytesMax,
  'POST /portal/invitations/redeem': limits.redeemBodyBytesMax,
  'POST /tenants/{tenant}/clients/{id}/secrets': limits.strayBodyBytesMax,
  'POST /tenants/{tenant}/mail/templates/{name}/{language}/preview': limits.mailTemplateBodyBytesMax,
  'POST /tenants/{tenant}/mail/test': limits.mailMessageBodyBytesMax,
  'PUT /tenants/{tenant}/mail/settings': smallBodyBytesMax,
  'PUT /tenants/{tenant}/mail/templates/{name}/{language}': limits.mailTemplateBodyBytesMax,
  'POST /{tenant}/mail/bounces': limits.mailReportBytesMax,
  'POST /{tenant}/mail/messages': limits.mailMessageBodyBytesMax,
  'POST /tenants/{tenant}/event-stream/subscriptions': configBodyBytesMax,
  'POST /tenants/{tenant}/event-stream/subscriptions/{id}/deliveries/{delivery}/retry': limits.strayBodyBytesMax,
  'POST /tenants/{tenant}/event-stream/subscriptions/{id}/replay': configBodyBytesMax,
  'POST /tenants/{tenant}/event-stream/subscriptions/{id}/replays/{replay}/cancel': limits.strayBodyBytesMax,
  'POST /tenants/{tenant}/event-stream/subscriptions/{id}/secret/rotate': limits.strayBodyBytesMax,
  'POST /tenants/{tenant}/event-stream/subscriptions/{id}/test': limits.strayBodyBytesMax,
  'POST /tenants/{tenant}/graphql': limits.graphqlBodyBytesMax,
  'POST /tenants/{tenant}/keys/rotate': limits.strayBodyBytesMax,
  'POST /tenants/{tenant}/members/invitations': smallBodyBytesMax,
  'POST /tenants/{tenant}/sharing/invitations': smallBodyBytesMax,
  'POST /tenants/{tenant}/policies/{policyName}/replay': bodyBytesMax,
  'POST /tenants/{tenant}/policies/{policyName}/test': bodyBytesMax,
  'POST /tenants/{tenant}/policy-format': bodyBytesMax,
  'POST /tenants/{tenant}/resources/manifest/check': limits.policyDataBodyBytesMax,
  'POST /tenants/{tenant}/tokens/check': limits.tokenBodyBytesMax,
  'POST /{tenant}/access/v1/evaluation': bodyBytesMax,
  'POST /{tenant}/access/v1/evaluations': limits.batchBodyBytesMax,
  'POST /{tenant}/access/v1/search/action': bodyBytesMax,
  'POST /{tenant}/access/v1/search/resource': bodyBytesMax,
  'POST /{tenant}/access/v1/search/subject': bodyBytesMax,
  'POST /tenants/{tenant}/access/v1/search/action': bodyBytesMax,
  'POST /tenants/{tenant}/access/v1/search/resource': bodyBytesMax,
  'POST /tenants/{tenant}/access/v1/search/subject': bodyBytesMax,
  'POST /tenants/{tenant}/actors/{type}/{id}/erase': smallBodyBytesMax,
  'POST /tenants/{tenant}/actors/{type}/{id}/erase/preview': smallBodyBytesMax,
  'POST /tenants/{tenant}/actors/{type}/{id}/relationships': smallBodyBytesMax,
  'POST /tenants/{tenant}/consents': bodyBytesMax,
  'POST /tenants/{tenant}/consents/{id}/revoke': smallBodyBytesMax,
  'POST /{tenant}/actors/{type}/{id}/erase': smallBodyBytesMax,
  'POST /{tenant}/actors/{type}/{id}/relationships': smallBodyBytesMax,
  'POST /{tenant}/consents': bodyBytesMax,
  'POST /{tenant}/consents/invitations': smallBodyBytesMax,
  'POST /{tenant}/consents/refusals': smallBodyBytesMax,
  'POST /{tenant}/sharing/invitations': smallBodyBytesMax,
  'POST /{tenant}/sharing/invitations/accept': limits.acceptBodyBytesMax,
  'POST /{tenant}/sharing/invitations/decline': limits.tokenBodyBytesMax,
  'POST /{tenant}/sharing/invitations/preview': limits.tokenBodyBytesMax,
  'PUT /tenants/{tenant}/branding': smallBodyBytesMax,
  'PUT /tenants/{tenant}/accounts/{id}': smallBodyBytesMax,
  'PUT /tenants/{tenant}/actor-types/{type}': configBodyBytesMax,
  'PUT /tenants/{tenant}/clients/{id}': configBodyBytesMax,
  'PUT /tenants/{tenant}/consent-definitions/{name}': bodyBytesMax,
  'PUT /tenants/{tenant}/consent-definitions/{name}/versions/{version}': bodyBytesMax,
  'PUT /tenants/{tenant}/consent-definitions/{name}/versions/{version}/documents/{language}/{documentVersion}':
    bodyBytesMax,
  'PUT /tenants/{tenant}/consent-definitions/{name}/versions/{version}/end-of-life': smallBodyBytesMax,
  'PUT /tenants/{tenant}/event-stream/subscriptions/{id}': configBodyBytesMax,
  'PUT /tenants/{tenant}/policies/{policyName}': bodyBytesMax,
  'PUT /tenants/{tenant}/policy-data/{path}': limits.policyDataBodyBytesMax,
  'PUT /tenants/{tenant}/policy-libraries/{package}': 2 * limits.libraryBytesMax,
  'PUT /tenants/{tenant}/relationship-types/{type}': configBodyBytesMax,
  'PUT /tenants/{tenant}/resource-types/{type}': configBodyBytesMax,
  'PUT /tenants/{tenant}/token-mapping': smallBodyBytesMax,
  'PUT /tenants/{tenant}/trusted-issuers/{name}': configBodyBytesMax,
  'PUT /{tenant}/actors/{type}/{id}': bodyBytesMax,
  'PUT /{tenant}/resources/{type}/{id}': bodyBytesMax,
};

describe('a body may be as large as its route says', () => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { requestBody }]) => 'application/json' in (requestBody?.content ?? {}))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );

  test('and every route with a body says it', () => {
    expect(Object.keys(bounds).sort()).toEqual(operations.sort());
  });

  const send = (operation: string, bytes: number) => {
    const [method, path] = operation.split(' ') as ['POST' | 'PUT', string];
    const url = path.replace('{tenant}', tenant).replaceAll(/\{\w+\}/g, 'x');
    const authorization = `Bearer ${path.startsWith('/tenants/') ? member : backend}`;
    // White space, then what is no JSON: nothing is done with it.
    const payload = `${' '.repeat(bytes - 1)}?`;
    return server.app.inject({ method, url, headers: { authorization, ...json }, payload });
  };

  test.each(Object.entries(bounds))('%s: %i bytes, and not one more', async (operation, bytes) => {
    const taken = await send(operation, bytes);
    expect([taken.statusCode, taken.json().detail]).toEqual([400, expect.stringContaining('not JSON')]);
    const refused = await send(operation, bytes + 1);
    const detail = `The request body is larger than the limit of ${bytes} bytes.`;
    expect([refused.statusCode, refused.json()]).toMatchObject([413, { code: 'body_too_large', detail }]);
  });

  test('of nobody is not read where a token is needed', async () => {
    const payload = 'x'.repeat(limits.batchBodyBytesMax * 2);
    for (const url of [`/authz/${tenant}/batch`, `/tenants/${tenant}/policies/x/test`]) {
      const answer = await server.app.inject({ method: 'POST', url, headers: json, payload });
      expect([answer.statusCode, answer.json().code]).toEqual([401, 'unauthenticated']);
    }
  });

  test('where nothing is read of it, it may be small', async () => {
    const url = `/${tenant}/consents/00000000-0000-0000-0000-000000000000`;
    for (const [bytes, status] of [
      [limits.strayBodyBytesMax, 404],
      [limits.strayBodyBytesMax + 1, 413],
    ] as const) {
      const payload = `"${'x'.repeat(bytes - 2)}"`;
      const headers = { authorization: `Bearer ${backend}`, ...json };
      const answer = await server.app.inject({ method: 'DELETE', url, headers, payload });
      expect(answer.statusCode).toBe(status);
      if (status === 413) expect(answer.json().detail).toContain(`${limits.strayBodyBytesMax} bytes`);
    }
  });
});

describe('the structure of a body', () => {
  const ask = async (context: string) => {
    const headers = { authorization: `Bearer ${backend}`, ...json };
    const payload = `{"context":{"x":${context}}}`;
    const answer = await server.app.inject({ method: 'POST', url: `/authz/${tenant}`, headers, payload });
    return [answer.statusCode, answer.statusCode === 200 ? undefined : answer.json().detail];
  };
  const list = (count: number, item: (n: number) => string) => `[${Array.from({ length: count }, (_, n) => item(n))}]`;

  test('may have as many values as the limit says, and not one more', async () => {
    const around = 3; // the body, the context and the list
    expect(await ask(list(limits.bodyValuesMax - around, () => '1'))).toEqual([200, undefined]);
    expect(await ask(list(limits.bodyValuesMax - around + 1, () => '1'))).toEqual([
      400,
      expect.stringContaining('values'),
    ]);
    expect((await ask(list(limits.bodyValuesMax, () => '{}')))[0]).toBe(400);
    expect((await ask(list(limits.bodyValuesMax, () => '[]')))[0]).toBe(400);
  });

  test('may have as many shapes as the limit says, and not one more', async () => {
    const around = 2; // context, x
    const own = (n: number) => `{"k${n}":0}`;
    expect(await ask(list(limits.bodyShapesMax - around, own))).toEqual([200, undefined]);
    expect(await ask(list(limits.bodyShapesMax - around + 1, own))).toEqual([
      400,
      expect.stringContaining('field names'),
    ]);
    const ordered = (n: number) => `{"a${n % 100}":0,"b${n / 100}":0}`; // few names, in many orders
    expect((await ask(list(limits.bodyShapesMax, ordered)))[0]).toBe(400);
    const escaped = (n: number) =>
      [...n.toString(8).padStart(5, '0')].map((digit) => `\\${'btnfr"/\\'[Number(digit)]}`).join('');
    expect((await ask(list(limits.bodyShapesMax + 1, (n) => `{"${escaped(n)}":0}`)))[0]).toBe(400);
    const one = Array.from({ length: limits.bodyShapesMax }, (_, n) => `"k${n}":0`);
    expect((await ask(`{${one}}`))[0]).toBe(400);
  });

  test('is counted by members in their order: objects that are alike, and texts that look like members, are none', async () => {
    const alike = list(limits.bodyShapesMax * 2, (n) => `{"id":"${n}","type":"user","attributes":{"age":${n}}}`);
    expect(await ask(alike)).toEqual([200, undefined]);
    expect(await ask(list(limits.bodyShapesMax * 2, (n) => `"{\\"k${n}\\":[1,{"`))).toEqual([200, undefined]);
    expect(await ask(list(limits.bodyShapesMax * 2, () => '{"x\\\\":1,"\\"y":{"z":2}}'))).toEqual([200, undefined]);
  });

  test('of a small body is not looked at before it is parsed, and its depth is', async () => {
    const deep = '['.repeat(limits.uncheckedBodyCharsMax / 4) + ']'.repeat(limits.uncheckedBodyCharsMax / 4);
    expect((await ask(deep))[1]).toMatch(/^\/context\/x\/0.*levels deep/);
    expect((await ask(deep + ' '.repeat(limits.uncheckedBodyCharsMax)))[1]).toMatch(/^The body.*levels deep/);
  });

  test('that is no JSON is refused as such, whatever its size', async () => {
    for (const wrong of ['}'.repeat(2000), `"${'x'.repeat(2000)}`, `${'{"a":'.repeat(20)}${' '.repeat(2000)}`]) {
      expect(await ask(wrong)).toEqual([400, expect.stringContaining('not JSON')]);
    }
  });
});
