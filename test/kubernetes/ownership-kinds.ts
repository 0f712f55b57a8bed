/** How the kinds of ownership-model.ts are written by each of the two writers, and where what they say is found. */
import type { Kind } from './ownership-model.ts';

export const written: Record<
  Kind,
  {
    plural: string;
    route: string;
    /** Beside the fields that all kinds have. */
    spec: (claims: string, content: number, broken: boolean) => object;
    body: (content: number) => object;
    /** SQL of the content. */
    content: string;
    table: string;
    /** Of what a GET answers. */
    // biome-ignore lint/suspicious/noExplicitAny: each kind has its own answer
    shown: (body: any) => string;
  }
> = {
  Policy: {
    plural: 'policies',
    route: 'policies',
    spec: (name, content, broken) => ({ name, rego: broken ? 'package p\nbroken(' : regoOf(content) }),
    body: (content) => ({ rego: regoOf(content) }),
    content: 'rego',
    table: 'policy',
    shown: ({ rego }) => rego,
  },
  ResourceType: {
    plural: 'resourcetypes',
    route: 'resource-types',
    spec: (name, content) => ({ name, attributes: [{ name: `a${content}`, type: 'string' }] }),
    body: (content) => ({ attributes: { [`a${content}`]: { type: 'string' } } }),
    content: `(select string_agg(key, ',') from jsonb_object_keys(spec -> 'attributes') key)`,
    table: 'entity_type',
    shown: ({ attributes }) => Object.keys(attributes).join(),
  },
  TrustedIssuer: {
    plural: 'trustedissuers',
    route: 'trusted-issuers',
    spec: (_, content) => issuerOf(content),
    body: issuerOf,
    content: `spec ->> 'actorIdPrefix'`,
    table: 'trusted_issuer',
    shown: ({ actorIdPrefix }) => actorIdPrefix,
  },
};

function regoOf(content: number): string {
  return `package p\n\n# ${content}\ndefault outcome := "allow"\n`;
}

function issuerOf(content: number) {
  return { issuer: 'https://idp.test', algorithms: ['ES256'], actorIdPrefix: `a${content}` };
}

/** As the database holds it and the API shows it. */
export const contentOf = (kind: Kind, content: number) => (kind === 'Policy' ? regoOf(content) : `a${content}`);
