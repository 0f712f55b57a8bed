/**
 * How the kinds of ownership-model.ts are written by each of the two writers. Which kinds there are the rooms say; what a
 * manifest and a request of each look like stands here, and a kind without that is named with the reason.
 */
import type { Manifest } from '../../crds/index.ts';
import { kindsOf } from '../../server/room/resource-kind.ts';
import { rooms } from '../../server/rooms.ts';

/** Those that are not written here, and why. */
const apart = {
  Tenant: 'it owns the others, and its own owner does not change',
  ConsentDefinition: 'it is archived where others are deleted: test/definitions/manifest.test.ts',
} as const satisfies Partial<Record<Manifest['kind'], string>>;

export type Kind = Exclude<Manifest['kind'], keyof typeof apart>;

export type Written = {
  /** The name in the tenant that its manifests claim. */
  claims: string;
  /** Its manifests claim the name of their object. */
  isObjectName?: true;
  /** The name is the rest of its path in the Config API. */
  isPath?: true;
  /** The path of its list in the Config API. */
  route: string;
  /** Beside the fields that all kinds have. @param broken a policy that does not compile */
  spec: (claims: string, content: number, broken: boolean) => object;
  body: (content: number) => object;
  /** What a GET answers of the content, and what it is to be. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own answer
  shown: (body: any) => string;
  content: (content: number) => string;
};

const attribute = (content: number) => `a${content}`;
const entityType: Omit<Written, 'claims' | 'route'> = {
  spec: (name, content) => ({ name, attributes: [{ name: attribute(content), type: 'string' }] }),
  body: (content) => ({ attributes: { [attribute(content)]: { type: 'string' } } }),
  shown: ({ attributes }) => Object.keys(attributes).join(),
  content: attribute,
};

/** The compiler asks for one of each kind. */
export const written: Record<Kind, Written> = {
  Policy: {
    claims: 'doc:read',
    route: 'policies',
    spec: (name, content, broken) => ({ name, rego: broken ? 'package p\nbroken(' : regoOf('p', content) }),
    body: (content) => ({ rego: regoOf('p', content) }),
    shown: ({ rego }) => rego,
    content: (content) => regoOf('p', content),
  },
  PolicyLibrary: {
    claims: 'company.roles',
    route: 'policy-libraries',
    spec: (name, content) => ({ package: name, modules: modulesOf(content) }),
    body: (content) => ({ modules: modulesOf(content) }),
    shown: ({ modules }) => modules[0].rego,
    content: (content) => regoOf('company.roles', content),
  },
  PolicyData: {
    claims: 'company/offices',
    route: 'policy-data',
    spec: (path, content) => ({ path, value: { n: content } }),
    body: (content) => ({ value: { n: content } }),
    shown: ({ value }) => JSON.stringify(value),
    content: (content) => JSON.stringify({ n: content }),
  },
  ActorType: { claims: 'driver', route: 'actor-types', ...entityType },
  ResourceType: { claims: 'car', route: 'resource-types', ...entityType },
  RelationshipType: {
    claims: 'person:drives:bus',
    route: 'relationship-types',
    spec: (key, content) => {
      const [from, name, to] = key.split(':');
      return { from, name, to, maxPerTarget: content + 1 };
    },
    body: (content) => ({ maxPerTarget: content + 1 }),
    shown: ({ maxPerTarget }) => String(maxPerTarget),
    content: (content) => String(content + 1),
  },
  TrustedIssuer: {
    claims: 'idp',
    isObjectName: true,
    route: 'trusted-issuers',
    spec: (_, content) => issuerOf(content),
    body: issuerOf,
    shown: ({ actorIdPrefix }) => actorIdPrefix,
    content: attribute,
  },
  OAuthClient: {
    claims: 'shop',
    route: 'clients',
    spec: (clientId, content) => ({ clientId, ...clientOf(content) }),
    body: clientOf,
    shown: ({ displayName }) => displayName,
    content: attribute,
  },
  EventSubscription: {
    claims: 'hooks',
    isObjectName: true,
    route: 'event-stream/subscriptions',
    spec: (_, content) => ({ ...hookOf(content), generateSecret: { name: 'hooks' } }),
    body: hookOf,
    shown: ({ maxPerSecond }) => String(maxPerSecond),
    content: (content) => String(content + 1),
  },
  MailTemplate: {
    // Not one that is built in: that is read also when nobody has written it.
    claims: 'greeting/en',
    isPath: true,
    route: 'mail/templates',
    spec: (claims, content) => {
      const [name, language] = claims.split('/');
      return { name, language, ...mailOf(content) };
    },
    body: mailOf,
    shown: ({ subject }) => subject,
    content: attribute,
  },
};

/** The types that the relationship type is of, which nobody else writes. */
export const before: readonly (readonly [path: string, body: object])[] = [
  ['/actor-types/person', {}],
  ['/resource-types/bus', {}],
];

/** The registrations of the kinds, as the operator looks at them. */
export const registered = new Map(
  kindsOf(rooms)
    .filter(({ kind }) => !(kind.definition.kind in apart))
    .map(({ room, kind }) => {
      const name = kind.definition.kind as Kind;
      if (!(name in written)) throw new Error(`ownership-kinds.ts does not say how a ${name} is written`);
      return [name, { room, kind }] as const;
    }),
);

function regoOf(name: string, content: number): string {
  return `package ${name}\n\n# ${content}\ndefault outcome := "allow"\n`;
}

function modulesOf(content: number) {
  return [{ name: 'roles', rego: regoOf('company.roles', content) }];
}

function issuerOf(content: number) {
  return { issuer: 'https://idp.test', algorithms: ['ES256'], actorIdPrefix: attribute(content) };
}

function clientOf(content: number) {
  const method = { tokenEndpointAuthMethod: 'none', redirectUris: ['https://shop.test/callback'] };
  return { displayName: attribute(content), grantTypes: ['authorization_code'], ...method };
}

function hookOf(content: number) {
  return { endpoint: 'https://hooks.test/events', eventTypes: ['*'], maxPerSecond: content + 1 };
}

function mailOf(content: number) {
  return { subject: attribute(content), text: 'Hello' };
}
