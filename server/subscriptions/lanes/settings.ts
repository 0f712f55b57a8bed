/** What a lane works by, as the configuration of its subscription says. */
import type { Transaction } from '../../core/db/database.ts';
import type { EventRow } from '../../events/index.ts';
import type { NewEvent } from '../../room/events.ts';

export type EndpointAuth =
  | { type: 'none' }
  | { type: 'bearer'; token: string }
  | { type: 'basic'; username: string; password: string }
  | {
      type: 'oauth2';
      tokenUrl: string;
      clientId: string;
      clientSecret: string;
      scope?: string | undefined;
      audience?: string | undefined;
    };

export type DeliverySettings = {
  endpoint: string;
  /** False: nothing is sent. */
  enabled: boolean;
  types: 'all' | ReadonlySet<string>;
  /** Whether it is of the types and passes the filters. */
  matches(event: EventRow): boolean;
  /** Whether one request may carry several events. */
  batch: boolean;
  maxPerSecond: number;
  numberOfRetries: number;
  auth: EndpointAuth;
  /** One, or two during a rotation. */
  signingSecrets: readonly string[];
  /** Whether the endpoint is asked before the first request (CloudEvents webhooks). */
  handshake?: boolean;
};

/** What an event about an endpoint tells. `since`: when it began to fail, RFC 3339. */
type About = { endpoint: string; since: string | undefined };

/** What the configuration gives to lanes. */
export type Configured<Settings extends DeliverySettings = DeliverySettings> = {
  /** @returns undefined when there is no such subscription */
  settingsOf(tx: Transaction, tenant: string, subscription: string): Promise<Settings | undefined>;
  bodyOf(
    settings: Settings,
    events: readonly EventRow[],
  ): { contentType: string; text: string; headers?: Readonly<Record<string, string>> };
  disabled(tenant: string, subscription: string, about: About & { reason: 'gone' | 'failing' }): NewEvent;
  recovered(tenant: string, subscription: string, about: About): NewEvent;
};
