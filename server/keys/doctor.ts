/** Whether each tenant has a key that signs, which the master key opens, and keys are rotated. */
import { limits } from '../core/limits.ts';
import { type DoctorCheck, type DoctorFinding, unlessFound } from '../room/doctor.ts';
import { readTenants } from '../tenants/index.ts';
import { accessKeys, type TokenKeyServices } from './actions.ts';

/** A server rotates each hour. */
const LATE_MS = 24 * 3_600_000;

export function signingKeysCheck(services: TokenKeyServices): DoctorCheck {
  return {
    name: 'signing keys',
    async run() {
      const tenants = (await services.database.system(readTenants)).filter(({ state }) => state === 'active');
      const found: DoctorFinding[] = [];
      for (const { tenant } of tenants) found.push(...(await findingsOf(services, tenant)));
      return unlessFound(found, `the tenants (${tenants.length}) have keys that sign, and the master key opens them`);
    },
  };
}

async function findingsOf(services: TokenKeyServices, tenant: string): Promise<DoctorFinding[]> {
  const now = services.clock.now();
  try {
    const { keys } = await accessKeys(services, tenant);
    const signing = keys.find(({ privateJwk, activatesAtMs }) => privateJwk !== undefined && activatesAtMs <= now);
    if (signing === undefined) {
      const found = 'no key signs its access tokens: nobody can log in';
      return [{ status: 'error', tenant, found, remedy: `Run accord keys rotate --tenant ${tenant}.` }];
    }
    if (now - signing.activatesAtMs < limits.signingKeyAgeMsMax + LATE_MS) return [];
    const found = `the key of its access tokens has been signing since ${new Date(signing.activatesAtMs).toISOString()}: keys are not rotated`;
    const remedy =
      'Running servers rotate keys that are 90 days old each hour. Look for background_failed with the task "rotating signing keys" in their logs.';
    return [{ status: 'warning', tenant, found, remedy }];
  } catch (error) {
    const remedy =
      'Give ACCORD_MASTER_KEY the value with which the keys were encrypted. If it is lost, the keys are lost: restore a backup.';
    return [{ status: 'error', tenant, found: `its keys cannot be opened: ${(error as Error).message}`, remedy }];
  }
}
