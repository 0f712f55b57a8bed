/** How a client of the examples gets its first token at its tenant's own issuer, as `accord start` prints it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ownIssuer } from '../server/keys/index.ts';
import type { Services } from '../server/services.ts';

/** Of the first tenant with a back end whose secret is in a file here; empty when there is none. */
export function firstToken(
  { snapshots, baseUrl }: Pick<Services, 'snapshots' | 'baseUrl'>,
  directory: string,
): string[] {
  for (const { tenant, clients } of snapshots.all()) {
    for (const { clientId, grantTypes, enabled } of clients.values()) {
      const file = join(directory, 'secrets', tenant, `${clientId}.json`);
      if (!enabled || !grantTypes.includes('client_credentials') || !existsSync(file)) continue;
      const issuer = ownIssuer(baseUrl, tenant);
      const read = `const s = require('${file.startsWith('/') ? file : `./${file}`}'); s.client_id + ':' + s.client_secret`;
      return [
        `The authorization server of ${tenant}, and a first token:`,
        '',
        `  ${issuer}/.well-known/openid-configuration`,
        '',
        `curl -s ${issuer}/token -d grant_type=client_credentials \\\n  -u "$(node -p "${read}")"`,
        '',
      ];
    }
  }
  return [];
}
