/** Shapes of the subscriptions room: what is configured, how it is stored, and what a lane needs to deliver. */
import { type Static, Type } from 'typebox';
import { definitionOf, type EventSubscriptionSpec } from '../../crds/index.ts';
import type { Transaction } from '../core/db/database.ts';
import { Bytes, Instant, Json } from '../core/db/rows.ts';
import { limits } from '../core/limits.ts';
import type { Owner } from '../core/ownership.ts';

/** The custom resource's, without what only a manifest needs. */
export type SubscriptionSpec = Omit<EventSubscriptionSpec, 'tenantRef' | 'managementPolicy' | 'adoptionPolicy'>;

const {
  tenantRef: _ref,
  managementPolicy: _management,
  adoptionPolicy: _adoption,
  secretRef: _secretRef,
  generateSecret: _generateSecret,
  paused: _paused,
  auth: shownAuth,
  endpoint,
  eventTypes,
  ...optional
} = definitionOf('EventSubscription').specSchema.properties;

const { secretRef: _authSecretRef, type, ...authFields } = shownAuth.properties;

const HOW = 'How requests authenticate to the endpoint, besides their signature.';

const secret = (description: string) =>
  Type.Optional(
    Type.String({
      ...{ minLength: 1, maxLength: limits.secretValueBytesMax },
      description: `${description} It is never shown. Absent: the one that is stored stays.`,
    }),
  );
const enabled = Type.Boolean({
  default: true,
  description: 'Whether events are sent. Those that come while it is false are sent when it is true again.',
});

const AuthBody = Type.Object(
  {
    type,
    ...authFields,
    token: secret('The token, with type bearer.'),
    password: secret('The password, with type basic.'),
    clientSecret: secret('The secret of the client, with type oauth2.'),
  },
  { additionalProperties: false, description: HOW },
);

/** The body of POST and PUT; what is absent has its default. */
export const SubscriptionBody = Type.Object(
  {
    ...{ endpoint, eventTypes },
    ...Type.Partial(Type.Object({ ...optional, auth: AuthBody, enabled })).properties,
  },
  { additionalProperties: false },
);
export type SubscriptionBody = Static<typeof SubscriptionBody>;

const id = Type.String({ description: 'Names the subscription. Of a manifest: the name of its object.' });
const signingSecret = Type.String({
  description: 'Signs requests: whsec_ and base64, as Standard Webhooks says. It is shown once and never again.',
});

const warnings = Type.Optional(
  Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() }), {
    description:
      'What is odd and stored nevertheless: filters by types that the tenant does not have (yet). Absent: nothing is.',
  }),
);

export const NewSubscriptionView = Type.Object({ id, signingSecret, warnings });

/** Of one that was there before. */
export const ChangedView = Type.Object({ warnings });

export const RotatedView = Type.Object({
  ...{ id, signingSecret },
  previousExpiresAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'Until then requests have the signature of the one before, too.' }),
  ),
});

export const SubscriptionView = Type.Object({
  ...{ id, endpoint, eventTypes },
  ...optional,
  auth: Type.Object({ type, ...authFields }, { description: HOW }),
  enabled,
  signingSecrets: Type.Array(Type.Object({ createdAt: Type.String(), expiresAt: Type.Optional(Type.String()) }), {
    description: 'When the secrets that sign requests were made, the newest first.',
  }),
  delivery: Type.Object({
    state: Type.Union(
      [Type.Literal('active'), Type.Literal('failing'), Type.Literal('paused'), Type.Literal('disabled')],
      {
        description:
          'failing: the newest requests failed. paused: nothing is sent until enabled is true. disabled: nothing is sent until the subscription is changed.',
      },
    ),
    waiting: Type.Integer({ description: 'Events that were not looked at or not delivered yet, of whatever type.' }),
    cursor: Type.Integer({ description: 'Number of the newest event that was looked at.' }),
    failingSince: Type.Optional(Type.String({ format: 'date-time' })),
    blockedUntil: Type.Optional(Type.String({ format: 'date-time', description: 'Nothing is sent before.' })),
    disabledAt: Type.Optional(Type.String({ format: 'date-time' })),
    disabledReason: Type.Optional(Type.String({ description: 'gone: it answered 410. failing: for five days.' })),
  }),
  warnings,
  revision: Type.Integer(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
  updatedBy: Type.String(),
  managedBy: Type.String(),
});

export const SubscriptionRow = Type.Object({
  tenant: Type.String(),
  id: Type.String(),
  spec: Json<SubscriptionSpec>(),
  secrets: Bytes,
  revision: Type.Integer(),
  owner: Json<Owner>(),
  created_at: Instant,
  updated_at: Instant,
  updated_by: Type.String(),
});
export type SubscriptionRow = Static<typeof SubscriptionRow>;

/** Instants as RFC 3339. */
export type SigningSecret = { secret: string; createdAt: string; expiresAt?: string };

/** What is encrypted in a row. `signing`: the newest first; `auth`: token, password or client secret. */
export type SubscriptionSecrets = { signing: SigningSecret[]; auth?: string };

/** Types of actors and resources, of which the room of types tells. */
export type EntityTypes = {
  /** Names of those of a tenant. */
  names(tx: Transaction, tenant: string): Promise<readonly string[]>;
};

export type EndpointAuth =
  | { type: 'none' }
  | { type: 'bearer'; token: string }
  | { type: 'basic'; username: string; password: string }
  | { type: 'oauth2'; tokenUrl: string; clientId: string; clientSecret: string; scope?: string; audience?: string };

/** What an event is told by: its type and its data. */
export type Matched = { type: string; body: Record<string, unknown> };

/** A subscription as it is delivered by. */
export type DeliverySettings = {
  tenant: string;
  id: string;
  endpoint: string;
  /** False where it is paused, and where a secret that it needs is missing: nothing is sent then. */
  enabled: boolean;
  types: 'all' | ReadonlySet<string>;
  /** Whether an event has one of the types and passes the filters. */
  matches(event: Matched): boolean;
  format: EventSubscriptionSpec['format'];
  /** The data of an event in the legacy form; as it is, of a type that has none. */
  legacyOf(event: Matched): object;
  /** A request may hold several events. */
  batch: boolean;
  maxPerSecond: number;
  /** The endpoint is asked by OPTIONS first. */
  handshake: boolean;
  numberOfRetries: number;
  auth: EndpointAuth;
  /** The newest first. */
  signingSecrets: readonly string[];
  revision: number;
  /** Address of the tenant's Management APIs. */
  source: string;
};
