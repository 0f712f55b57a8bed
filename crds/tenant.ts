/** Tenant: a customer of the installation. */
import Type, { type Static } from 'typebox';
import { bounds } from './bounds.ts';
import {
  Audiences,
  DnsLabel,
  Email,
  mapOf,
  ownershipFields,
  strictObject,
  text,
  tokenMappingFields,
} from './fields.ts';
import { column, columns, type Kind, Status } from './kind.ts';
import { patterns } from './patterns.ts';
import { Login, Tokens } from './tenant-login.ts';
import { ConsentMail, Mail } from './tenant-mail.ts';
import { reserved, tenantRules } from './tenant-rules.ts';

const LabelKey = (description: string) => text(patterns.labelKey, bounds.labelKeyCharsMax, description);
const LabelValue = (description: string) =>
  Type.String({ description, maxLength: bounds.labelCharsMax, pattern: patterns.labelValue.source });

const AllowedNamespaces = strictObject(
  {
    names: Type.Optional(
      Type.Array(DnsLabel('Name of one namespace.'), {
        minItems: 1,
        maxItems: bounds.namespacesMax,
        uniqueItems: true,
        description: 'Namespaces by name.',
      }),
    ),
    selector: Type.Optional(
      strictObject(
        {
          matchLabels: Type.Optional(
            mapOf(LabelValue('The value that the label must have.'), {
              maxProperties: bounds.selectorLabelsMax,
              description: 'Labels that a namespace must have, each with this value.',
            }),
          ),
          matchExpressions: Type.Optional(
            Type.Array(
              strictObject(
                {
                  key: LabelKey('Key of the label.'),
                  operator: Type.Enum(['In', 'NotIn', 'Exists', 'DoesNotExist'], {
                    description: 'How the label is compared.',
                  }),
                  values: Type.Optional(
                    Type.Array(LabelValue('One value.'), {
                      minItems: 1,
                      maxItems: bounds.selectorValuesMax,
                      uniqueItems: true,
                      description: 'Values for In and NotIn.',
                    }),
                  ),
                },
                { description: 'One requirement on the labels of a namespace.' },
              ),
              { maxItems: bounds.selectorExpressionsMax, description: 'Requirements that must all hold.' },
            ),
          ),
        },
        {
          description: 'Label selector of namespaces; an empty selector selects all namespaces.',
        },
      ),
    ),
  },
  {
    description:
      'Namespaces whose objects may name this tenant: those in names and those that the selector selects. Defaults to the namespace with the name of the tenant. It does not apply to manifests read from files.',
  },
);

const Claims = strictObject(
  {
    namespace: Type.Optional(
      text(
        patterns.host,
        bounds.hostCharsMax,
        'Host name in the names of the claims that are added: https://NAMESPACE/relationships and https://NAMESPACE/consents.',
      ),
    ),
    relationships: Type.Boolean({
      default: false,
      description: "Whether tokens of the tenant's own issuer carry the user's relationships.",
    }),
    consents: Type.Boolean({
      default: false,
      description: "Whether tokens of the tenant's own issuer carry the user's consents.",
    }),
  },
  {
    description:
      "What access tokens of the tenant's own issuer carry of their user besides the standard claims, for clients that request the scopes relationships and consents.",
  },
);

const DecisionLog = strictObject(
  {
    mode: Type.Enum(['off', 'denies', 'sampled', 'all'], {
      default: 'off',
      description:
        'Which decisions are recorded. Quote "off": YAML 1.1, which kubectl reads, takes the bare word for false.',
    }),
    rate: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'Share of the decisions that mode sampled records, above 0 up to 1.',
      }),
    ),
  },
  { default: {}, description: 'Recording of decisions.' },
);

const Events = strictObject(
  {
    retentionDays: Type.Integer({
      ...{ default: 14, minimum: 1, maximum: bounds.eventRetentionDaysMax },
      description: 'How many days an event is kept after it was numbered.',
    }),
    graceEndingDays: Type.Integer({
      ...{ default: 7, minimum: 0, maximum: bounds.graceEndingDaysMax },
      description:
        'How many days before the end of a grace period of a consent CONSENT_GRACE_ENDING is emitted. 0: not before its end, and then not at all.',
    }),
  },
  { description: 'Event streaming.' },
);

const quota = (maximum: number, description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum, description }));

const Limits = strictObject(
  {
    maxPolicies: quota(bounds.tenantPoliciesMax, 'Maximum number of policies.'),
    maxRelationships: quota(bounds.tenantRelationshipsMax, 'Maximum number of relationships.'),
    maxRequestsPerSecond: quota(
      bounds.tenantRequestsPerSecondMax,
      'Requests a second that each server takes for the tenant.',
    ),
  },
  { description: 'Limits of this tenant. A limit that is absent is that of the installation.' },
);

const ConsentAttribute = strictObject(
  {
    object: Type.Enum(['definition', 'version', 'document'], {
      description: 'Which consent objects have the attribute.',
    }),
    name: text(patterns.attributeName, bounds.attributeNameCharsMax, 'Name of the attribute.'),
    type: Type.Enum(['string', 'number', 'boolean', 'date'], { description: 'Type of its value.' }),
    required: Type.Boolean({ default: false, description: 'Whether every such object must have it.' }),
  },
  { description: 'One custom attribute.' },
);

export const TenantSpec = strictObject(
  {
    displayName: text(patterns.oneLine, bounds.displayNameCharsMax, 'Display name of the tenant.'),
    audiences: Audiences("Values of aud that the tenant's access tokens may have; a token must have one of them."),
    allowedNamespaces: Type.Optional(AllowedNamespaces),
    securityAdmins: Type.Optional(
      Type.Array(Email('Where the invitation of one Security Admin goes.'), {
        maxItems: bounds.securityAdminsMax,
        uniqueItems: true,
        description: 'People who are invited as Security Admins of the tenant.',
      }),
    ),
    supportDesk: strictObject(
      {
        email: Type.Optional(
          Email('Address of the support desk account. Defaults to support-desk@localhost, which cannot receive mail.'),
        ),
        enabled: Type.Boolean({
          default: true,
          description:
            'Whether the tenant has the account. When it is set to false, the account that this object created is removed, with its tokens.',
        }),
      },
      {
        default: {},
        description:
          'The support desk account of the tenant, which reads configuration and decisions with ids and contacts masked. It is handed over as a single-use link that expires, like those of securityAdmins: in a Secret named TENANT-support-desk in the secretNamespace, or in a file for its owner where there are no Secrets.',
      },
    ),
    allowedOrigins: Type.Optional(
      Type.Array(
        text(patterns.visible, bounds.originCharsMax, 'One origin, such as https://app.example.com, without a path.'),
        {
          maxItems: bounds.allowedOriginsMax,
          uniqueItems: true,
          description:
            "Origins of web pages that may call the tenant's APIs from a browser with a token of their user (CORS). Defaults to none. They do not apply to the Config API.",
        },
      ),
    ),
    tokenMapping: strictObject(tokenMappingFields, {
      default: {},
      description: 'Claims of a token that name the actor, for issuers without a mapping of their own.',
    }),
    claims: Type.Optional(Claims),
    tokens: Tokens,
    login: Type.Optional(Login),
    mail: Type.Optional(Mail),
    decisionLog: DecisionLog,
    events: Type.Optional(Events),
    consentMail: Type.Optional(ConsentMail),
    consentAttributes: Type.Optional(
      Type.Array(ConsentAttribute, {
        maxItems: bounds.consentAttributesMax,
        description: 'Custom attributes of consent definitions, versions and documents.',
      }),
    ),
    limits: Type.Optional(Limits),
    configAuthority: Type.Enum(['PerObject', 'Kubernetes', 'Api'], {
      default: 'PerObject',
      description:
        'Who may change the configuration of the tenant. PerObject: manifests and the API, each object by the one that made it. Kubernetes: manifests only. Api: the API only.',
    }),
    deletionPolicy: Type.Enum(['Retain', 'Delete'], {
      default: 'Retain',
      description: 'When this object is deleted: Retain disables the tenant and keeps its data, Delete erases them.',
    }),
    secretNamespace: Type.Optional(
      DnsLabel('Namespace of the Secrets of the tenant. Defaults to the namespace with the name of the tenant.'),
    ),
    restore: Type.Optional(
      strictObject(
        {
          allowPastDates: Type.Boolean({
            default: false,
            description:
              'Accept new consent documents and ends of life that lie in the past. For a bootstrap or a restore; set it back afterwards.',
          }),
        },
        { description: 'Exceptions while data is restored.' },
      ),
    ),
    ...ownershipFields,
  },
  { description: 'The desired state of the tenant.' },
);
export type TenantSpec = Static<typeof TenantSpec>;

export const tenant = {
  kind: 'Tenant',
  plural: 'tenants',
  singular: 'tenant',
  shortNames: ['aten'],
  scope: 'Cluster',
  description: `A customer of the installation. Its name is the tenant code that appears in every path. Reserved: ${reserved.join(', ')}.`,
  specSchema: TenantSpec,
  statusSchema: Status,
  printerColumns: columns({
    tenant: false,
    own: [column('Display Name', '.spec.displayName', 'Display name of the tenant.')],
  }),
  rules: tenantRules,
  // A Tenant names its administrators, and whose claims are believed.
  editorRole: 'tenant-editor',
  listKeys: [{ at: '/spec/consentAttributes', fields: ['object', 'name'] }],
} as const satisfies Kind;
