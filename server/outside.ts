/** How a process reaches the outside: the guard of its connections. */
import { readFile } from 'node:fs/promises';
import { type Config, ConfigError, parseListen } from './core/config.ts';
import type { OutboundOptions } from './core/outbound/outbound.ts';

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
