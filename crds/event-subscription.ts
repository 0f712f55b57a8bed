/** EventSubscription: an endpoint of the tenant that events are sent to. Its object name is its id in the API. */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';
import { ownershipFields, strictObject, TenantRef, TypeName, text } from './fields.ts';
import { column, columns, type Kind, Status } from './kind.ts';
import { patterns } from './patterns.ts';
import { endpointUrl, immutable, type Rule, rule } from './rule.ts';

const SecretName = (description: string) =>
  strictObject({ name: text(patterns.subdomain, bounds.objectNameCharsMax, 'Name of the Secret.') }, { description });

const TypeNames = (description: string) =>
  Type.Optional(
    Type.Array(TypeName('Name of one type.'), {
      minItems: 1,
      maxItems: bounds.eventFilterTypesMax,
      uniqueItems: true,
      description,
    }),
  );

const Auth = strictObject(
  {
    type: Type.Enum(['none', 'bearer', 'basic', 'oauth2'], {
      default: 'none',
      description:
        'none: requests have no header Authorization. bearer: a fixed token. basic: a user name and a password. oauth2: a token that is got by client_credentials.',
    }),
    username: Type.Optional(text(patterns.basicUser, bounds.endpointUserCharsMax, 'User name, with type basic.')),
    tokenUrl: Type.Optional(
      text(patterns.visible, bounds.urlCharsMax, 'Token endpoint of the authorization server, with type oauth2.'),
    ),
    clientId: Type.Optional(
      text(patterns.visible, bounds.upstreamClientIdCharsMax, 'The client_id at the token endpoint, with type oauth2.'),
    ),
    scope: Type.Optional(
      text(
        patterns.oneLine,
        bounds.endpointScopeCharsMax,
        'Scopes that are asked for, separated by spaces, with type oauth2.',
      ),
    ),
    audience: Type.Optional(
      text(patterns.visible, bounds.audienceCharsMax, 'The audience that is asked for, with type oauth2.'),
    ),
    secretRef: Type.Optional(
      SecretName(
        "A Secret in the object's namespace with the key token (type bearer), password (type basic) or client_secret (type oauth2).",
      ),
    ),
  },
  { description: 'How requests authenticate to the endpoint, besides their signature.' },
);

export const EventSubscriptionSpec = strictObject(
  {
    tenantRef: TenantRef,
    endpoint: text(
      patterns.visible,
      bounds.urlCharsMax,
      'URL that events are sent to by POST: https, or http where ACCORD_OUTBOUND_ALLOW of the installation names the address. It holds no secrets, because whoever reads the subscription sees it.',
    ),
    eventTypes: Type.Array(
      text(
        patterns.eventType,
        bounds.eventTypeCharsMax,
        'A type, or the beginning of types and a *; * alone names all.',
      ),
      {
        minItems: 1,
        maxItems: bounds.eventTypesMax,
        uniqueItems: true,
        description: 'Types of events that are sent, such as RELATIONSHIP_CREATED or INVITATION_*.',
      },
    ),
    filters: Type.Optional(
      strictObject(
        {
          actorTypes: TypeNames('Only events about an actor of one of these types.'),
          resourceTypes: TypeNames('Only events about a resource of one of these types.'),
        },
        {
          description:
            'Which events of the types are sent: those that pass all filters. An event that is about no actor or resource does not pass.',
        },
      ),
    ),
    format: Type.Enum(['cloudevents', 'cloudevents-batch', 'legacy'], {
      default: 'cloudevents',
      description:
        'cloudevents: each request is a CloudEvent in JSON. cloudevents-batch: a request holds a list of CloudEvents. legacy: a request is the data of one event alone.',
    }),
    maxPerSecond: Type.Integer({
      default: 100,
      minimum: 1,
      maximum: bounds.endpointRequestsPerSecondMax,
      description: 'Maximum number of requests to the endpoint in a second.',
    }),
    numberOfRetries: Type.Integer({
      default: 9,
      minimum: 0,
      maximum: bounds.endpointRetriesMax,
      description: 'How often a request that fails is sent again: after 5 seconds at first, after 24 hours at last.',
    }),
    auth: Type.Optional(Auth),
    handshake: Type.Boolean({
      default: false,
      description:
        'Whether the endpoint is asked by OPTIONS before the first request whether it wants events from here (CloudEvents webhooks); the rate that it allows is obeyed.',
    }),
    paused: Type.Boolean({
      default: false,
      description: 'Whether nothing is sent. Events that come meanwhile are sent when this is false again.',
    }),
    secretRef: Type.Optional(
      SecretName(
        "A Secret in the object's namespace with the key signing_secret: whsec_ and the base64 of 24 to 64 random bytes. When it changes, requests have the signature of the one before too for another day.",
      ),
    ),
    generateSecret: Type.Optional(
      SecretName(
        "The Secret that is made in the object's namespace, with the keys subscription and signing_secret. Where there are no Secrets it is a file for its owner. When it is deleted, another secret is generated, and requests have the signature of the one before too for another day.",
      ),
    ),
    ...ownershipFields,
  },
  { description: 'The endpoint and what is sent to it.' },
);
export type EventSubscriptionSpec = Static<typeof EventSubscriptionSpec>;

type Auth = Static<typeof Auth>;

/** The members that each type has; those of `may` can be left out. */
const has = (names: readonly string[]) => names.map((name) => `has(self.${name})`).join(' && ');
const lacks = (names: readonly string[]) => names.map((name) => `!has(self.${name})`).join(' && ');

function membersOf(type: Auth['type'], must: readonly (keyof Auth)[], may: readonly (keyof Auth)[] = []): Rule {
  const all = ['username', 'tokenUrl', 'clientId', 'scope', 'audience', 'secretRef'] as const;
  const never = all.filter((name) => !must.includes(name) && !may.includes(name));
  const [needed, barred] = [must.length === 0 ? 'true' : has(must), never.length === 0 ? 'true' : lacks(never)];
  const own = [...must, ...may.map((name) => `${name} (optional)`)].join(', ');
  return rule<Auth>({
    at: '/spec/auth',
    cel: `self.type != '${type}' || (${needed} && ${barred})`,
    message:
      must.length === 0
        ? `must have no other member with type ${type}`
        : `must have ${own} with type ${type}, and no others`,
    check: (self) =>
      self.type !== type ||
      (must.every((name) => self[name] !== undefined) && never.every((name) => self[name] === undefined)),
  });
}

const rules: readonly Rule[] = [
  immutable('/spec/tenantRef/name', 'must not change: delete the subscription and make it in the other tenant'),
  endpointUrl('/spec/endpoint'),
  endpointUrl('/spec/auth/tokenUrl'),
  membersOf('none', []),
  membersOf('bearer', ['secretRef']),
  membersOf('basic', ['username', 'secretRef']),
  membersOf('oauth2', ['tokenUrl', 'clientId', 'secretRef'], ['scope', 'audience']),
  rule<EventSubscriptionSpec>({
    at: '/spec',
    cel: 'has(self.secretRef) != has(self.generateSecret)',
    message: 'must have one of secretRef and generateSecret: the secret that signs requests',
    check: ({ secretRef, generateSecret }) => (secretRef !== undefined) !== (generateSecret !== undefined),
  }),
];

export const eventSubscription = {
  kind: 'EventSubscription',
  plural: 'eventsubscriptions',
  singular: 'eventsubscription',
  shortNames: ['aesub'],
  scope: 'Namespaced',
  description:
    'An endpoint that events of the tenant are sent to. Whoever may write one reads every event of the tenant, addresses of invited people too.',
  specSchema: EventSubscriptionSpec,
  statusSchema: Status,
  printerColumns: columns({
    tenant: true,
    own: [column('Endpoint', '.spec.endpoint', 'Where events are sent to.')],
  }),
  rules,
  // What config-editors see masked stands in events.
  editorRole: 'issuer-editor',
  listKeys: [],
} as const satisfies Kind;
