/** --listen and --admin-listen take precedence over their variables. */
import { isIP } from 'node:net';
import { type Config, parseListen } from '../server/core/config.ts';
import { UsageError } from './arguments.ts';

/** @throws UsageError when an option is not HOST:PORT */
export function withListeners(config: Config, values: Record<string, string | undefined>): Config {
  for (const option of ['listen', 'admin-listen']) {
    const value = values[option];
    if (value === undefined) continue;
    const { host, port } = parseListen(value);
    if (!value.includes(':') || host === '' || !Number.isInteger(port) || port < 1 || port > 65_535) {
      throw new UsageError(`accord: --${option} takes HOST:PORT, not ${value}`);
    }
  }
  return {
    ...config,
    ...(values.listen === undefined ? {} : { ACCORD_LISTEN: values.listen }),
    ...(values['admin-listen'] === undefined ? {} : { ACCORD_ADMIN_LISTEN: values['admin-listen'] }),
  };
}

/** Whether a link of this installation leads to this machine, and nobody outside of it can reach either listener. */
export function isOnlyHere(config: Config, baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return onLoopback(config) && isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));
}

/** Whether nobody outside this machine can reach either listener. */
export function onLoopback(config: Config): boolean {
  return [config.ACCORD_LISTEN, config.ACCORD_ADMIN_LISTEN].every((listen) => {
    return isLoopback(parseListen(listen).host);
  });
}

const isLoopback = (host: string) =>
  host === 'localhost' || (isIP(host) === 4 ? host.startsWith('127.') : host === '::1');
