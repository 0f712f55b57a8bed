/** How a process reaches the outside: the guard of its connections, and the keys of trusted issuers that come through it. */
import { readFile } from 'node:fs/promises';
import { JwksCache, type JwksOptions } from './core/auth/jwks.ts';
import type { OutboundOptions } from './core/auth/outbound.ts';
import { type Config, ConfigError, parseListen } from './core/config.ts';
import { KeyFindings, type KeyFindingsOptions } from './issuers/index.ts';

function ownListeners(config: Config): { port: number }[] {
  return [parseListen(config.ACCORD_LISTEN), parseListen(config.ACCORD_ADMIN_LISTEN)];
}

/** @throws ConfigError when the file of ACCORD_CA_BUNDLE cannot be read */
export async function outboundOptions(config: Config): Promise<OutboundOptions> {
  const { ACCORD_CA_BUNDLE: file, ACCORD_HTTPS_PROXY: url, ACCORD_NO_PROXY: except } = config;
  const ca = file === undefined ? undefined : await readFile(file, 'utf8').catch(unreadable);
  return {
    allow: config.ACCORD_OUTBOUND_ALLOW,
    ownListeners: () => ownListeners(config),
    ...(ca === undefined ? {} : { ca }),
    ...(url === undefined ? {} : { proxy: { url, except } }),
  };
}

function unreadable(error: Error): never {
  throw new ConfigError(`ACCORD_CA_BUNDLE: ${error.message}`);
}

type KeyParts = Pick<JwksOptions, 'outbound' | 'clock' | 'observe'> & Omit<KeyFindingsOptions, 'look'>;

/** The keys of trusted issuers, and what is found when they are read. */
export function issuerKeys({ outbound, clock, observe, database, server, maxStalenessMs }: KeyParts) {
  const jwks = new JwksCache({ outbound, clock, observe, found: (finding) => keyFindings.found(finding) });
  const look: KeyFindingsOptions['look'] = (tenant, issuer) => jwks.look(tenant, issuer);
  const keyFindings: KeyFindings = new KeyFindings({ database, server, look, maxStalenessMs, observe });
  return { jwks, keyFindings };
}
