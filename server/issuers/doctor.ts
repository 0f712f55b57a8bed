/** Whether the keys of all trusted issuers can be read, from where the command runs. */
import { JwksCache, type KeysFinding } from '../core/auth/jwks.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import type { Observe } from '../core/observe.ts';
import type { Outbound } from '../core/outbound/outbound.ts';
import { type DoctorCheck, unlessFound } from '../room/doctor.ts';
import { loadIssuers } from './store.ts';

type Services = { database: Database; outbound: Outbound; clock: Clock; observe: Observe };

const AT_ONCE = 4;

export function trustedIssuersCheck({ database, outbound, clock, observe }: Services): DoctorCheck {
  return {
    name: 'trusted issuers',
    async run() {
      const issuers = await database.system((tx) => loadIssuers(tx));
      const findings: KeysFinding[] = [];
      const cache = new JwksCache({ outbound, clock, observe, found: (finding) => findings.push(finding) });
      const waiting = [...issuers];
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) await cache.look(one.tenant, one.spec);
        }),
      );
      const failed = findings.flatMap(({ tenant, issuer, error }) =>
        error === null
          ? []
          : [
              {
                ...({ status: 'error', tenant } as const),
                found: `the keys of the issuer ${issuer} cannot be read: ${error}`,
                remedy:
                  'Its tokens are refused. Check that the address is right and reachable from here and from the servers. An address in a private network has to be in ACCORD_OUTBOUND_ALLOW, its certificate authority in ACCORD_CA_BUNDLE, and a proxy in ACCORD_HTTPS_PROXY.',
              },
            ],
      );
      return unlessFound(failed, `the keys of all issuers (${issuers.length}) were read`);
    },
  };
}
