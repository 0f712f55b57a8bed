/** Libraries and data documents over the Config API, and decisions, for tests. */
import type { TestServer } from '../helpers/server.ts';
import { configClient } from './config-client.ts';

export async function partClient(server: TestServer) {
  const tenant = await server.tenant({ decisionLog: { mode: 'all' } });
  const call = await configClient(server, tenant);
  const backend = await server.client(tenant, 'authz:evaluate', 'pg:tenant:admin');
  const put = (path: string, body: object) => call('PUT', path, { body });
  return {
    ...{ tenant, call },
    library: (name: string, ...modules: string[]) =>
      put(`/policy-libraries/${name}`, { modules: modules.map((rego, i) => ({ name: `m${i}`, rego })) }),
    data: (path: string, value: unknown) => put(`/policy-data/${encodeURIComponent(path)}`, { value }),
    policy: (name: string, rego: string, tests: object[] = []) => put(`/policies/${name}`, { rego, tests }),
    async decide(action: string, id = 'ann', query = '') {
      const response = await server.app.inject({
        method: 'POST',
        url: `/authz/${tenant}${query}`,
        headers: { authorization: `Bearer ${backend}` },
        payload: { subject: { type: 'user', id }, action },
      });
      return response.json();
    },
  };
}

export const allowIf = (condition: string, more = '') =>
  `package p\nimport data.company.roles\n${more}default outcome := "deny"\noutcome := "allow" if ${condition}\n`;
