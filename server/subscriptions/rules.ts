/** The rules of subscriptions, pure: what may be configured. */
import { isIP } from 'node:net';
import { apiVersion, checkManifest, type EventSubscriptionSpec } from '../../crds/index.ts';
import { limits } from '../core/limits.ts';
import { type Cidr, isAddressAllowed, isWithin } from '../core/outbound/addresses.ts';
import { problem } from '../core/problems.ts';
import { subscriptionProblem } from './problems.ts';
import type { SubscriptionBody, SubscriptionSecrets, SubscriptionSpec } from './schema.ts';
import { authSecretNames } from './secrets.ts';

type Auth = NonNullable<SubscriptionSpec['auth']>;
type Given = { spec: SubscriptionSpec; auth: string | undefined };

/**
 * Checks a body of the Config API by the rules that manifests have.
 * @returns it with its defaults; `auth`: the secret that it brings
 * @throws Problem invalid_request with the places
 */
export function checkSubscriptionBody(tenant: string, id: string, body: SubscriptionBody): Given {
  const { enabled = true, auth, ...rest } = body;
  const { token, password, clientSecret, ...shown } = auth ?? ({ type: 'none' } as NonNullable<typeof auth>);
  const given = { token, password, clientSecret };
  // Manifests name Secrets; in a body the values stand in their place.
  const own = shown.type === 'none' ? undefined : authSecretNames[shown.type];
  const ownAuth =
    auth === undefined ? {} : { auth: { ...shown, ...(own !== undefined ? { secretRef: { name: 'api' } } : {}) } };
  const spec = { ...rest, ...ownAuth, paused: !enabled, generateSecret: { name: 'api' }, tenantRef: { name: tenant } };
  const metadata = { name: id, namespace: 'api' };
  const checked = checkManifest({ ...{ apiVersion, kind: 'EventSubscription', spec }, metadata });
  const errors = [
    ...(checked.ok ? [] : checked.errors).map(({ pointer, detail }) => ({
      pointer: pointer.startsWith('/metadata') ? '/params/id' : pointer.replace(/^\/spec/, ''),
      detail: detail.replace('secretRef', own ?? 'a secret'),
    })),
    ...Object.entries(given).flatMap(([name, value]) =>
      value === undefined || name === own
        ? []
        : [{ pointer: `/auth/${name}`, detail: `must not be there with type ${shown.type}` }],
    ),
  ];
  if (!checked.ok || errors.length > 0) {
    const detail = errors.map((error) => `${error.pointer} ${error.detail}`).join('; ');
    throw problem('invalid_request', { detail, errors });
  }
  const { generateSecret: _, ...complete } = subscriptionSpecOf(checked.manifest.spec as EventSubscriptionSpec);
  const { auth: { secretRef: _ref, ...bare } = {}, ...others } = complete;
  return {
    spec: { ...others, ...(auth === undefined ? {} : { auth: bare as Auth }) },
    auth: own === undefined ? undefined : given[own],
  };
}

/** Only what belongs to the subscription: a manifest's spec has more. */
export function subscriptionSpecOf(spec: SubscriptionSpec): SubscriptionSpec {
  const { tenantRef: _ref, managementPolicy: _m, adoptionPolicy: _a, ...own } = spec as EventSubscriptionSpec;
  return own;
}

/** Names of members of a query that hold secrets, without hyphens and underscores. */
const SECRET_NAMES =
  /^(?:(?:access|auth|api|bearer|id|refresh|webhook)?tokens?|(?:api|auth|access|app|function|subscription|webhook)?key|(?:client|api|app|shared|webhook|signing)?secret(?:key)?|pass(?:word|wd|phrase)?|pwd|auth(?:orization)?|sig(?:nature)?|credentials?|jwt|code|hmac|user(?:name)?|session(?:id)?)$/;

/**
 * Whether a URL may be an endpoint, as far as can be told without resolving its name: each connection is judged again.
 * @param allow the ranges of ACCORD_OUTBOUND_ALLOW; undefined where they are not known
 * @throws Problem endpoint_refused
 */
export function checkEndpoint(text: string, pointer: string, allow: readonly Cidr[] | undefined): void {
  const refuse = (detail: string) =>
    subscriptionProblem('endpoint_refused', { detail: `${pointer} ${detail}`, errors: [{ pointer, detail }] });
  // The parser turns every other spelling of an address (0x7f.1, 2130706433) into the usual one.
  const url = URL.parse(text);
  if (url === null) throw refuse('is not a URL');
  for (const name of url.searchParams.keys()) {
    if (SECRET_NAMES.test(name.toLowerCase().replaceAll(/[-_]/g, ''))) {
      throw refuse(`must not hold a secret: everybody who reads the subscription would see ${name}; use auth instead`);
    }
  }
  if (allow === undefined) return;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isLiteral = isIP(host) !== 0;
  if (url.protocol === 'http:' && (isLiteral ? !isWithin(host, allow) : allow.length === 0)) {
    throw refuse('must be https: http is only for addresses that ACCORD_OUTBOUND_ALLOW of the installation names');
  }
  if (isLiteral && !isAddressAllowed(host, allow)) {
    throw refuse(`must not be at ${host}: the address is not public, and ACCORD_OUTBOUND_ALLOW does not name it`);
  }
}

/**
 * Whether the subscription may be there beside the tenant's other ones.
 * @param around `types`: all there are; `allow` as checkEndpoint has it; undefined where they are not known
 * @param others how many there are
 * @throws Problem event_type_unknown, endpoint_refused, subscription_quota_reached
 */
export function checkSubscription(
  spec: Pick<SubscriptionSpec, 'endpoint' | 'eventTypes' | 'auth'>,
  around: { types: readonly string[] | undefined; allow: readonly Cidr[] | undefined },
  others: number,
): void {
  const { types, allow } = around;
  const errors = spec.eventTypes.flatMap((pattern, index) => {
    const isKnown = types === undefined || types.some((type) => isNamed(pattern, type));
    return isKnown ? [] : [{ pointer: `/eventTypes/${index}`, detail: `No event type is named ${pattern}.` }];
  });
  if (errors.length > 0) throw subscriptionProblem('event_type_unknown', { errors });
  checkEndpoint(spec.endpoint, '/endpoint', allow);
  if (spec.auth?.tokenUrl !== undefined) checkEndpoint(spec.auth.tokenUrl, '/auth/tokenUrl', allow);
  if (others >= limits.subscriptionsMax) {
    const detail = `A tenant can have at most ${limits.subscriptionsMax} event subscriptions.`;
    throw subscriptionProblem('subscription_quota_reached', { detail });
  }
}

/** Whether a pattern, a type or the beginning of types and a `*`, names a type. */
export function isNamed(pattern: string, type: string): boolean {
  return pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}

/**
 * The secret of the authentication that stays when none is given: not for another endpoint, another token endpoint or another
 * name, where a change would send it.
 */
export function keptAuthSecret(
  before: { spec: SubscriptionSpec; secrets: SubscriptionSecrets } | undefined,
  { endpoint, auth }: SubscriptionSpec,
): string | undefined {
  if (before === undefined || auth === undefined) return undefined;
  const { endpoint: sentTo, auth: had } = before.spec;
  const isSame =
    sentTo === endpoint &&
    had?.type === auth.type &&
    had.tokenUrl === auth.tokenUrl &&
    had.username === auth.username &&
    had.clientId === auth.clientId;
  return isSame ? before.secrets.auth : undefined;
}
