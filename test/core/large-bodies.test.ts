/** Bodies of the greatest size, made to cost: refused, and the rest of the server goes on. */
import { describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { createTestServer } from '../helpers/server.ts';

const server = await createTestServer();
const tenant = await server.tenant();
const authorization = `Bearer ${await server.client(tenant, 'authz:evaluate')}`;
const DEEP = limits.batchBodyBytesMax / 2;
const batch = (payload: string) =>
  server.app.inject({
    method: 'POST',
    url: `/authz/${tenant}/batch`,
    headers: { authorization, 'content-type': 'application/json' },
    payload,
  });

describe('a large body that is refused', () => {
  test.each([
    ['as many wrong items as fit', `{"requests":[${'1,'.repeat(limits.bodyValuesMax - 10)}1]}`, '/requests'],
    [
      'as many wrong fields as fit',
      `{"requests":[{${Array.from({ length: limits.bodyShapesMax - 10 }, (_, n) => `"k${n}":1`)}}]}`,
      '/requests/0/k0',
    ],
  ])(
    'for %s tells the first wrong place only: finding all of them would hold up everybody',
    async (_, text, pointer) => {
      const response = await batch(text);
      expect(response.statusCode).toBe(400);
      expect(response.json().errors).toHaveLength(1);
      expect(response.json().errors[0].pointer).toBe(pointer);
    },
  );

  test('for its depth says so, however deep', async () => {
    const response = await batch(`${'['.repeat(DEEP)}${']'.repeat(DEEP)}`);
    expect([response.statusCode, response.json().detail]).toEqual([400, expect.stringContaining('levels deep')]);
  });
});

describe('the body of a batch', () => {
  const sized = (bytes: number) => {
    const empty = '{"requests":[{"context":{"x":""}}]}';
    return empty.replace('""', `"${'x'.repeat(bytes - empty.length)}"`);
  };
  test('may have as many bytes as the limit says, and not one more', async () => {
    expect((await batch(sized(limits.batchBodyBytesMax))).statusCode).toBe(200);
    const refused = await batch(sized(limits.batchBodyBytesMax + 1));
    expect([refused.statusCode, refused.json().code]).toEqual([413, 'body_too_large']);
  });
});

describe('the depth of a body', () => {
  const nested = (levels: number) => `{"context":${'{"x":'.repeat(levels - 1)}1${'}'.repeat(levels)}`;
  const ask = (payload: string) =>
    server.app.inject({
      method: 'POST',
      url: `/authz/${tenant}`,
      headers: { authorization, 'content-type': 'application/json' },
      payload,
    });
  test('may be as many levels as the limit says, and not one more', async () => {
    expect((await ask(nested(limits.inputDepthMax))).statusCode).toBe(200);
    const refused = await ask(nested(limits.inputDepthMax + 1));
    expect([refused.statusCode, refused.json().errors[0].detail]).toEqual([
      400,
      expect.stringContaining('levels deep'),
    ]);
  });
});
