/**
 * `accord doctor`: looks at an installation and says for each thing what to do. First the database, then what the rooms state
 * in their descriptors (`doctor`).
 */
import { resolve } from 'node:path';
import { systemClock } from '../server/core/clock.ts';
import { type Config, ConfigError, readConfig } from '../server/core/config.ts';
import { hasInstallationKey } from '../server/core/db/health.ts';
import { MasterKeyError } from '../server/core/encrypter.ts';
import type { DoctorCheck, DoctorFinding } from '../server/room/doctor.ts';
import { createServices, type Services } from '../server/services.ts';
import { type Parsed, UsageError } from './arguments.ts';
import { databaseChecks } from './doctor/database.ts';
import { outboxOf } from './outbox.ts';
import { installationConfig } from './with-services.ts';

type Finding = DoctorFinding & { check: string };

export async function run({ values, flags }: Parsed): Promise<number> {
  const findings = await examine(values.data as string);
  const ok = findings.every(({ status }) => status !== 'error');
  if (flags.has('json')) console.log(JSON.stringify({ ok, findings }, null, 2));
  else for (const finding of findings) console.log(textOf(finding));
  return ok ? 0 : 1;
}

async function examine(directory: string): Promise<Finding[]> {
  const check = 'configuration';
  let config: Config;
  let isLocal: boolean;
  try {
    const given = readConfig();
    isLocal = given.ACCORD_DATABASE_URL === undefined;
    config = await installationConfig('doctor', directory, given);
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof ConfigError)) throw error;
    const remedy = 'Correct the environment variables: docs/configuration.md has them all.';
    return [{ check, status: 'error', found: error.message.replaceAll('\n', '; '), remedy }];
  }
  const url = config.ACCORD_DATABASE_URL as string;
  const whose = isLocal ? `; the installation is the accord start of ${resolve(directory)}` : '';
  const findings: Finding[] = [{ check, status: 'ok', found: `the ACCORD_ variables are valid${whose}` }];
  for (const check of databaseChecks({ url, sessionUrl: config.ACCORD_DATABASE_SESSION_URL }, systemClock.now)) {
    const found = await perform(check);
    findings.push(...found);
    if (['database', 'migrations'].includes(check.name) && found.some(({ status }) => status === 'error'))
      return findings;
  }
  return [...findings, ...(await examineRooms(config, url, findings, isLocal ? directory : undefined))];
}

/** @param local the data directory of the `accord start` that runs; undefined: the installation is another */
async function examineRooms(
  config: Config,
  url: string,
  before: readonly Finding[],
  local: string | undefined,
): Promise<Finding[]> {
  const check = 'master key';
  if (before.some(({ check: one, status }) => one === 'roles and row-level security' && status === 'error')) return [];
  if (config.ACCORD_MASTER_KEY === undefined) {
    const remedy = 'Set ACCORD_MASTER_KEY to the key that the servers have.';
    return [{ check, status: 'error', found: 'ACCORD_MASTER_KEY is not set: no key can be opened', remedy }];
  }
  // The first server makes the keys of the installation; this command makes none.
  if (!(await hasInstallationKey(url))) {
    const remedy = 'Start accord serve.';
    return [{ check, status: 'warning', found: 'no server has run on this database yet: there are no keys', remedy }];
  }
  let services: Services;
  try {
    services = await createServices({ ...config, ACCORD_LOG_LEVEL: 'silent' }, { applicationName: 'doctor' });
  } catch (error) {
    if (!(error instanceof MasterKeyError)) throw error;
    const remedy =
      'Give ACCORD_MASTER_KEY the value with which the keys were encrypted. If it is lost, the keys are lost: restore a backup.';
    return [{ check, status: 'error', found: error.message, remedy }];
  }
  try {
    if (local !== undefined) services.mail.outbox.directory = outboxOf(resolve(local));
    const findings: Finding[] = [{ check, status: 'ok', found: 'it opens what the database holds' }];
    for (const room of services.rooms)
      for (const one of room.doctor?.(services.use(room)) ?? []) findings.push(...(await perform(one)));
    return findings;
  } finally {
    await services.close();
  }
}

async function perform({ name: check, run }: DoctorCheck): Promise<Finding[]> {
  try {
    return (await run()).map((finding) => ({ check, ...finding }));
  } catch (error) {
    const remedy = 'This could not be looked at. Mend what is reported above, and run accord doctor again.';
    return [{ check, status: 'error', found: (error as Error).message, remedy }];
  }
}

function textOf({ check, status, found, remedy, tenant }: Finding): string {
  const about = tenant === undefined ? check : `${check} of ${tenant}`;
  const line = `${status.padEnd(7)}  ${about}: ${found}`;
  return remedy === undefined ? line : `${line}\n         → ${remedy}`;
}
