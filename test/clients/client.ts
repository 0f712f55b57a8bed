/** Clients as their manifests say them, with every default filled in. */
import { apiVersion, checkManifest } from '../../crds/index.ts';
import type { ClientSpec } from '../../server/clients/index.ts';

/** A back end with a secret, unless it is said otherwise. @throws Error saying what the rules refuse */
export function clientSpec(more: Record<string, unknown> = {}): ClientSpec {
  const spec = {
    tenantRef: { name: 'demo' },
    clientId: 'backend',
    grantTypes: ['client_credentials'],
    scopes: ['authz:evaluate'],
    generateSecret: { name: 'backend-client' },
    ...more,
  };
  const checked = checkManifest({
    ...{ apiVersion, kind: 'OAuthClient', spec },
    metadata: { name: 'client', namespace: 'demo' },
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
  return checked.manifest.spec as unknown as ClientSpec;
}

/** What is wrong with the client, by place. */
export function refusals(more: Record<string, unknown>): Record<string, string> {
  try {
    clientSpec(more);
    return {};
  } catch (error) {
    const places = JSON.parse((error as Error).message) as { pointer: string; detail: string }[];
    return Object.fromEntries(places.map(({ pointer, detail }) => [pointer, detail]));
  }
}

/** A public client: a page in a browser. */
export const spa = {
  applicationType: 'spa',
  grantTypes: ['authorization_code', 'refresh_token'],
  tokenEndpointAuthMethod: 'none',
  redirectUris: ['https://app.example/callback'],
  scopes: ['openid', 'offline_access'],
  generateSecret: undefined,
};
