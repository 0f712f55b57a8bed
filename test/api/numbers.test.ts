/** Numbers beyond what the database holds, in every query and path: the caller is told, and it is no internal error. */
import { expect, test } from 'vitest';
import { createTestServer } from '../helpers/server.ts';

type Parameter = { name: string; in: string; schema: { type?: string; minimum?: number; maximum?: number } };
type Operation = { parameters?: Parameter[] };

const server = await createTestServer();
const tenant = await server.tenant();
const document = (await server.app.inject('/openapi.json')).json();
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(([path, of]) =>
  Object.entries(of).map(([method, { parameters = [] }]) => ({ method, path, parameters })),
);

test('every integer of a query or a path says its smallest and its largest', () => {
  const isOpen = ({ schema }: Parameter) =>
    ['integer', 'number'].includes(schema.type ?? '') && (schema.minimum === undefined || schema.maximum === undefined);
  const open = operations.flatMap(({ method, path, parameters }) =>
    parameters.filter(isOpen).map(({ name }) => `${method} ${path} ${name}`),
  );
  expect(open).toEqual([]);
  expect(
    operations.flatMap(({ parameters }) => parameters.filter(({ schema }) => schema.type === 'integer')),
  ).not.toEqual([]);
});

test.each(['99999999999999999999', '9223372036854775808', '-1'])('%s is nowhere an internal error', async (number) => {
  const member = await server.member(tenant, 'security-admin');
  const client = await server.client(tenant, 'pg:tenant:admin');
  const failed: string[] = [];
  const answers = new Set<number>();
  const ask = async (url: string) => {
    const authorization = `Bearer ${url.startsWith('/tenants/') ? member : client}`;
    const { statusCode } = await server.app.inject({ url, headers: { authorization } });
    answers.add(statusCode);
    if (statusCode >= 500) failed.push(`${statusCode} ${url}`);
  };
  for (const { method, path, parameters } of operations) {
    if (method !== 'get' || !path.includes('{tenant}')) continue;
    const url = path.replace('{tenant}', tenant).replaceAll(/\{\w+\}/g, number);
    await ask(url);
    for (const { name, in: where } of parameters) if (where === 'query') await ask(`${url}?${name}=${number}`);
  }
  await ask(`/tenants/${tenant}/decisions?action=a:b&policyRevision=${number}`);
  expect(failed).toEqual([]);
  expect(answers).toContain(400);
});
