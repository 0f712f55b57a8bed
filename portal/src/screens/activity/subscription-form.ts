/** A subscription as a form has it, and the body that a form makes. */
import { type DeliveryState, listOf } from './states.ts';

export const authTypes = ['none', 'bearer', 'basic', 'oauth2'] as const;
type AuthType = (typeof authTypes)[number];
type AuthField = 'username' | 'tokenUrl' | 'clientId' | 'scope' | 'audience';
type Auth = { type: AuthType } & { [Name in AuthField]?: string };

export type Subscription = {
  id: string;
  endpoint: string;
  eventTypes: string[];
  filters?: { actorTypes?: string[]; resourceTypes?: string[] };
  format: string;
  maxPerSecond: number;
  numberOfRetries: number;
  handshake: boolean;
  auth: Auth;
  enabled: boolean;
  warnings?: { pointer: string; detail: string }[];
  delivery: {
    state: DeliveryState;
    waiting: number;
    failingSince?: string;
    disabledReason?: string;
  };
  managedBy: string;
};

export const authFields: Readonly<Record<AuthType, readonly { name: AuthField; isOptional?: true }[]>> = {
  none: [],
  bearer: [],
  basic: [{ name: 'username' }],
  oauth2: [
    ...[{ name: 'tokenUrl' } as const, { name: 'clientId' } as const],
    ...[{ name: 'scope', isOptional: true } as const, { name: 'audience', isOptional: true } as const],
  ],
};

/** What the API calls the secret of each type. */
export const secretOf = { none: undefined, bearer: 'token', basic: 'password', oauth2: 'clientSecret' } as const;

export type Form = {
  endpoint: string;
  eventTypes: string;
  actorTypes: string;
  resourceTypes: string;
  format: string;
  maxPerSecond: string;
  numberOfRetries: string;
  handshake: boolean;
  auth: Auth;
};

export const formOf = (of: Subscription): Form => ({
  ...{ endpoint: of.endpoint, eventTypes: of.eventTypes.join(', '), format: of.format },
  ...{
    actorTypes: (of.filters?.actorTypes ?? []).join(', '),
    resourceTypes: (of.filters?.resourceTypes ?? []).join(', '),
  },
  ...{ maxPerSecond: String(of.maxPerSecond), numberOfRetries: String(of.numberOfRetries) },
  ...{ handshake: of.handshake, auth: of.auth },
});

/** What the server adds to what was written. */
const added = [
  ...['id', 'signingSecrets', 'delivery', 'warnings', 'revision', 'createdAt', 'updatedAt', 'updatedBy', 'managedBy'],
];

/** The body that writes it as it is. */
export const specOf = (of: Subscription): Record<string, unknown> =>
  Object.fromEntries(Object.entries(of).filter(([name]) => !added.includes(name)));

/** @param secret of the authentication; empty: the one that is stored stays */
export function bodyOf(of: Subscription, form: Form, secret: string): Record<string, unknown> {
  const { filters: _filters, ...stored } = specOf(of);
  const types = { actorTypes: listOf(form.actorTypes), resourceTypes: listOf(form.resourceTypes) };
  const filters = Object.fromEntries(Object.entries(types).filter(([, names]) => names.length > 0));
  const { type } = form.auth;
  const fields = authFields[type].map(({ name }) => [name, form.auth[name]?.trim() ?? ''] as const);
  const secretName = secretOf[type];
  return {
    ...stored,
    ...{ endpoint: form.endpoint.trim(), eventTypes: listOf(form.eventTypes), format: form.format },
    ...(Object.keys(filters).length === 0 ? {} : { filters }),
    ...{ maxPerSecond: Number(form.maxPerSecond), numberOfRetries: Number(form.numberOfRetries) },
    handshake: form.handshake,
    auth: {
      type,
      ...Object.fromEntries(fields.filter(([, value]) => value !== '')),
      ...(secretName === undefined || secret === '' ? {} : { [secretName]: secret }),
    },
  };
}
