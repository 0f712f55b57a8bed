/** A tenant with consent definitions, for tests: dates stand still until they are told to go on. */
import type { TestServer } from '../helpers/server.ts';
import type { WallClock } from '../invitations/inviting.ts';
import { configClient, type Role } from '../policies/config-client.ts';

/** Short calls to /tenants/{tenant}/consent-definitions; each signs in anew, because months may lie between two of them. */
export async function defining(
  server: TestServer,
  clock: WallClock,
  consentAttributes: {
    object: 'definition' | 'version' | 'document';
    name: string;
    type: 'string' | 'number' | 'boolean' | 'date';
    required: boolean;
  }[] = [],
) {
  const tenant = await server.tenant(consentAttributes.length > 0 ? { consentAttributes } : {});
  const call = async (
    method: 'GET' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    role: Role = 'config-editor',
  ) => {
    const config = await configClient(server, tenant, role);
    return config(method, `/consent-definitions${path}`, body === undefined ? { headers } : { body, headers });
  };
  const put = (path: string, body: unknown, headers?: Record<string, string>) => call('PUT', path, body, headers);
  const direct = { optInConfig: { type: 'direct' } };
  return {
    tenant,
    clock,
    call,
    get: (path: string) => call('GET', path),
    put,
    direct,
    /** ms from now as an instant. */
    from: (ms: number) => new Date(clock.now() + ms).toISOString(),
    /** A definition with versions and documents by "version document language", each with the ms from now of its effect. */
    async define(name: string, documents: Record<string, number>) {
      const made = await put(`/${name}`, {});
      if (made.status !== 200) throw new Error(JSON.stringify(made.body));
      for (const [document, inMs] of Object.entries(documents)) {
        const [version, doc, language] = document.split(' ');
        if ((await call('GET', `/${name}/versions/${version}`)).status === 404)
          await put(`/${name}/versions/${version}`, direct);
        const at = new Date(clock.now() + inMs).toISOString();
        const { status, body } = await put(`/${name}/versions/${version}/documents/${language}/${doc}`, {
          effectiveDate: at,
        });
        if (status !== 200) throw new Error(JSON.stringify(body));
      }
    },
  };
}
