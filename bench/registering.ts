/** Registering consents, as benchmarks do it: of a definition whose document is in force, many at once. */
import type { registerConsents } from '../server/consents/registering.ts';
import type { putDefinition, putDocument, putVersion } from '../server/definitions/actions.ts';
import type { createInstallation, writer } from './installation.ts';

const AT_ONCE = 64;
const tenant = 'bench';

/** Of the checkout that is measured. */
type Measured = {
  installation: Awaited<ReturnType<typeof createInstallation>>;
  writer: typeof writer;
  definitions: {
    putDefinition: typeof putDefinition;
    putVersion: typeof putVersion;
    putDocument: typeof putDocument;
  };
  registerConsents: typeof registerConsents;
};

export type Rate = { perSecond: number; cpuUs: number };

/**
 * A tenant `bench` with a definition.
 * @param more what else the tenant gets before it is served
 * @param behind what belongs to the registrations and is done when they are
 * @returns registers for so many ms
 */
export async function consentsToRegister(
  { installation, writer, definitions, registerConsents }: Measured,
  { more, behind }: { more?: () => Promise<unknown>; behind?: () => Promise<unknown> } = {},
): Promise<(ms: number) => Promise<Rate>> {
  const { services } = installation;
  await installation.tenant(tenant);
  await definitions.putDefinition(services.definitions, writer, tenant, 'terms', {});
  await definitions.putVersion(services.definitions, writer, tenant, { name: 'terms', version: '1' }, {});
  const key = { name: 'terms', version: '1', language: 'en', document: 'a' };
  await definitions.putDocument(services.definitions, writer, tenant, key, {
    effectiveDate: new Date(Date.now() + 500).toISOString(),
  });
  await more?.();
  await services.snapshots.refresh(tenant);
  await new Promise((resolve) => setTimeout(resolve, 600));
  const caller = { kind: 'backend', tenant, clientId: 'bench', scopes: new Set(), issuer: 'bench' };
  const context = { tenant, caller, requestId: 'r' } as unknown as Parameters<typeof registerConsents>[1];
  let user = 0;
  return async (ms) => {
    const [started, cpu, first] = [performance.now(), process.cpuUsage(), user];
    const one = async () => {
      while (performance.now() - started < ms) {
        const item = { userId: `u${user++}`, name: 'terms', version: '1', document: { version: 'a', language: 'en' } };
        await registerConsents(services.consents, context, [item], false);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
    const done = user - first;
    await behind?.();
    const used = process.cpuUsage(cpu);
    return { perSecond: (done / (performance.now() - started)) * 1000, cpuUs: (used.user + used.system) / done };
  };
}
