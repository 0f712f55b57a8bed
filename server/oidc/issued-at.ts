/** When access tokens are signed: not in the second in which tokens like them were denied, because `iat` has whole seconds. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AccessToken, errors, Provider } from 'oidc-provider';
import { isDenied } from '../core/auth/claims.ts';
import type { Clock } from '../core/clock.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';

type Library = { errors: Pick<typeof errors, 'InvalidGrant'> };
type Signed = Pick<AccessToken, 'accountId' | 'clientId' | 'grantId' | 'resourceServer'> & { save(): Promise<string> };

/** A token waits at most until the next second: signed in this one, it would be refused for as long as it lives. */
export function signAfterDenials(
  { AccessToken, ClientCredentials, Grant }: Provider,
  { errors }: Library,
  { clock, current }: { clock: Clock; current: () => TenantSnapshot },
): void {
  for (const { prototype } of [AccessToken, ClientCredentials]) {
    const signed = prototype as unknown as Signed;
    const { save } = signed;
    signed.save = async function saveAfterDenials(this: Signed): Promise<string> {
      // Others are no JWTs: they are looked up, and denied by being removed.
      if (this.resourceServer !== undefined && (await waited(this, clock, current))) {
        // What denied the tokens may have ended the grant too, while this one was under way.
        if (this.grantId !== undefined && (await Grant.find(this.grantId)) === undefined)
          throw new errors.InvalidGrant('grant not found');
      }
      return save.call(this);
    };
  }
}

/** @returns whether it had to wait. Who is denied whenever the token is issued does not wait. */
async function waited(token: Signed, clock: Clock, current: () => TenantSnapshot): Promise<boolean> {
  const { accountId, clientId = '' } = token;
  const { denied } = current().auth;
  const isDeniedAt = (iat: number) => isDenied({ sub: accountId ?? clientId, client_id: clientId, iat }, denied);
  const second = () => Math.floor(clock.now() / 1000);
  const begun = second();
  if (!isDeniedAt(begun) || isDeniedAt(begun + 1)) return false;
  // A timer may fire a little before its time.
  while (second() === begun) await sleep(1000 - (clock.now() % 1000));
  return true;
}
