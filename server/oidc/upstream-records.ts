/** What a log-in by another issuer leaves between its steps, among the records of the authorization server. */
import { limits } from '../core/limits.ts';
import { library } from './library.ts';
import { type RecordServices, Records } from './records.ts';
import type { UpstreamChecks } from './upstream-client.ts';

/** What happens with the answer: somebody logs in, or links the identity to the account that asked for it. */
type UpstreamPurpose =
  | { uid: string }
  /** `browser`: SHA-256 of what its cookie holds. */
  | { link: { account: string; epoch: number; browser: string } };

/** A log-in at the issuer that is under way; `issuer` and `clientId` as they were when it began. */
type UpstreamBegun = UpstreamChecks & {
  name: string;
  issuer: string;
  clientId: string;
  purpose: UpstreamPurpose;
};

/** An identity that was proved and whose account was not: its token links the two (accounts `linkIdentity`). */
type PendingLink = { account: string; token: string; name: string };

export class UpstreamRecords {
  readonly #services: RecordServices;

  constructor(services: RecordServices) {
    this.#services = services;
  }

  async begin(tenant: string, begun: UpstreamBegun): Promise<void> {
    const { purpose } = begun;
    // Found with the account, and gone with what ends its log-ins.
    const owner = 'link' in purpose ? { accountId: purpose.link.account } : {};
    const adapter = await this.#adapter(tenant, 'UpstreamLogIn');
    await adapter.upsert(begun.state, { ...owner, begun }, limits.upstreamLogInTtlMs / 1000);
  }

  /** Undefined when there is none, it was used, or it took too long. */
  async find(tenant: string, state: string): Promise<UpstreamBegun | undefined> {
    const found = await (await this.#adapter(tenant, 'UpstreamLogIn')).find(state);
    if (!found || found.consumed !== undefined) return undefined;
    return found.begun as UpstreamBegun;
  }

  /** The same, for one request only: each answer of an issuer is used once. */
  async take(tenant: string, state: string): Promise<UpstreamBegun | undefined> {
    const begun = await this.find(tenant, state);
    if (begun === undefined) return undefined;
    const { InvalidGrant } = (await library()).errors;
    try {
      await (await this.#adapter(tenant, 'UpstreamLogIn')).consume(state);
      return begun;
    } catch (error) {
      if (error instanceof InvalidGrant) return undefined;
      throw error;
    }
  }

  /** @param uid of the log-in under way */
  async keepLink(tenant: string, uid: string, { account, ...link }: PendingLink): Promise<void> {
    const adapter = await this.#adapter(tenant, 'UpstreamLink');
    await adapter.upsert(uid, { accountId: account, link }, limits.identityLinkTtlMs / 1000);
  }

  async pendingLink(tenant: string, uid: string): Promise<PendingLink | undefined> {
    const found = await (await this.#adapter(tenant, 'UpstreamLink')).find(uid);
    if (!found) return undefined;
    return { account: found.accountId as string, ...(found.link as Omit<PendingLink, 'account'>) };
  }

  async #adapter(tenant: string, model: string) {
    const { errors } = await library();
    return new Records(this.#services, { tenant, errors, client: () => undefined, request: () => undefined }).adapter(
      model,
    );
  }
}
