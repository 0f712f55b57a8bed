/** The rules on a Tenant that its schema cannot say. */
import { originRules } from './origins.ts';
import { patterns } from './patterns.ts';
import { fetchableUrl, type Rule, rule } from './rule.ts';

/** Words that a path may begin with; a tenant of that name could not be reached. */
export const reserved = [
  'tenants',
  'authz',
  'portal',
  'graphql',
  'docs',
  'openapi.json',
  'healthz',
  'metrics',
  '.well-known',
  'assets',
] as const;

const consentFields = [
  ...['name', 'version', 'language', 'effectiveDate', 'optInConfig', 'endOfLife', 'archived'],
  ...['content', 'languageFallback'],
] as const;

const secondsOf = { H: 3600, M: 60, S: 1 } as const;
/** Seconds of a duration that has the shape patterns.duration. */
export function durationSeconds(duration: string): number {
  return Number(duration.slice(2, -1)) * secondsOf[duration.at(-1) as keyof typeof secondsOf];
}

type Named = { metadata: { name: string } };

// The pattern is tested first, so that a malformed duration gets one refusal and not an evaluation error besides.
const unit = "(self.endsWith('H') ? 3600 : self.endsWith('M') ? 60 : 1)";
const seconds = `int(self.substring(2, size(self) - 1)) * ${unit}`;
const between = (maxHours: number) => ({
  cel: `!self.matches(r'${patterns.duration.source}') || (${seconds} >= 60 && ${seconds} <= ${maxHours * 3600})`,
  message: `must lie between PT1M and PT${maxHours}H`,
  check: (self: string) => durationSeconds(self) >= 60 && durationSeconds(self) <= maxHours * 3600,
});

export const tenantRules: readonly Rule[] = [
  rule<Named>({
    at: '',
    field: '/metadata/name',
    cel: `self.metadata.name.matches(r"${patterns.tenantCode.source}")`,
    message: `must be ${patterns.tenantCode.words}`,
    check: (self) => new RegExp(patterns.tenantCode.source, 'u').test(self.metadata.name),
  }),
  rule<Named>({
    at: '',
    field: '/metadata/name',
    cel: `!(self.metadata.name in [${reserved.map((word) => `'${word}'`).join(', ')}])`,
    message: `must not be one of the reserved words ${reserved.join(', ')}`,
    check: (self) => !reserved.some((word) => word === self.metadata.name),
  }),
  fetchableUrl('/spec/consentMail/url', 'withQuery'),
  rule<{ names?: string[]; selector?: object }>({
    at: '/spec/allowedNamespaces',
    cel: 'has(self.names) || has(self.selector)',
    message: 'must have names or a selector (leave it out to allow only the namespace named like the tenant)',
    check: (self) => self.names !== undefined || self.selector !== undefined,
  }),
  ...originRules('/spec/allowedOrigins'),
  rule<{ operator: string; values?: string[] }>({
    at: '/spec/allowedNamespaces/selector/matchExpressions/*',
    cel: "(self.operator in ['In', 'NotIn']) == has(self.values)",
    message: 'must have values with the operators In and NotIn, and only with them',
    check: (self) => ['In', 'NotIn'].includes(self.operator) === (self.values !== undefined),
  }),
  rule<{ mode: string; rate?: number }>({
    at: '/spec/decisionLog',
    cel: "(self.mode == 'sampled') == has(self.rate)",
    message: 'must have a rate with mode sampled, and only with it',
    check: (self) => (self.mode === 'sampled') === (self.rate !== undefined),
  }),
  rule<number>({
    at: '/spec/decisionLog/rate',
    // Not a minimum: the API server compares a whole number, such as 0, with the bound cut to a whole number.
    cel: 'self > 0.0',
    message: 'must be above 0',
    check: (self) => self > 0,
  }),
  rule<{ name: string }>({
    at: '/spec/consentAttributes/*',
    field: '/name',
    cel: `!(self.name in [${consentFields.map((word) => `'${word}'`).join(', ')}])`,
    message: `must not be one of the fields that consent objects have: ${consentFields.join(', ')}`,
    check: (self) => !consentFields.some((word) => word === self.name),
  }),
  rule<string>({ at: '/spec/tokens/accessTokenTTL', ...between(24) }),
  rule<string>({ at: '/spec/tokens/refreshTokenTTL', ...between(8760) }),
  rule<string>({ at: '/spec/tokens/sessionTTL', ...between(336) }),
  rule<{ namespace?: string; relationships: boolean; consents: boolean }>({
    at: '/spec/claims',
    // `namespace` is a reserved word in CEL; the API server escapes such fields with underscores.
    cel: 'has(self.__namespace__) || !(self.relationships || self.consents)',
    message: 'must have a namespace when relationships or consents are added to tokens',
    check: (self) => self.namespace !== undefined || !(self.relationships || self.consents),
  }),
];
