/**
 * Gives a command the services of an installation: of the one that ACCORD_DATABASE_URL names, or of the local one that
 * runs on a directory.
 */
import { resolve } from 'node:path';
import { type Config, readConfig } from '../server/core/config.ts';
import { createServices, type Services } from '../server/services.ts';
import { UsageError } from './arguments.ts';
import { attachLocal } from './local.ts';

/** @throws UsageError when nothing runs on the directory */
export async function withServices<T>(
  command: string,
  directory: string,
  use: (services: Services) => Promise<T>,
): Promise<T> {
  const config = await installationConfig(command, directory, readConfig());
  const services = await createServices({ ...config, ACCORD_LOG_LEVEL: 'error' }, { applicationName: command });
  try {
    return await use(services);
  } finally {
    await services.close();
  }
}

/**
 * The configuration of the installation: as it is given, or with the database and the master key of the local one.
 * @throws UsageError when nothing runs on the directory
 */
export async function installationConfig(command: string, directory: string, given: Config): Promise<Config> {
  if (given.ACCORD_DATABASE_URL !== undefined) return given;
  const local = await attachLocal(directory);
  if (local === undefined) {
    throw new UsageError(
      `accord ${command}: no accord start uses ${resolve(directory)}; run accord start first, or name its directory with --data`,
    );
  }
  const baseUrl = given.ACCORD_BASE_URL ?? local.baseUrl;
  return { ...given, ...local.environment, ...(baseUrl === undefined ? {} : { ACCORD_BASE_URL: baseUrl }) };
}
