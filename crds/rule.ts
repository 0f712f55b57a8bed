/**
 * One rule that a structural schema cannot say, in both languages side by side so that they cannot drift: the CEL
 * expression that the API server runs and the TypeScript that reads a manifest without one. `self` is the same value in both.
 */
import { endpointPattern, urlPattern } from './patterns.ts';

export interface Rule {
  /** JSON Pointer in the manifest of the value that is `self`; `*` stands for every entry of a list. */
  readonly at: string;
  /** JSON Pointer below `at` of the value that is to blame, where it is not `self`. */
  readonly field?: string;
  readonly cel: string;
  /** Reads on from the place: "/spec/rego must …". */
  readonly message: string;
  /** Whether it compares with the stored object: then it holds on updates only, where both values are there. */
  readonly transition: boolean;
  /** True when the rule holds. */
  readonly check: (self: unknown, old: unknown) => boolean;
}

/** A rule about one value. `check` may rely on the shape: rules run after the schema has accepted the manifest. */
export function rule<Self>(it: {
  at: string;
  field?: string;
  cel: string;
  message: string;
  check: (self: Self) => boolean;
}): Rule {
  return { ...it, transition: false, check: (self) => it.check(self as Self) };
}

/** The string at `at` may never change once it is stored. */
export function immutable(at: string, message: string): Rule {
  return { at, cel: 'self == oldSelf', message, transition: true, check: (self, old) => self === old };
}

/** Of a string that matches the expression, which must be in the common subset of patterns.ts and hold no double quote. */
export function matching(source: string) {
  const expression = new RegExp(source, 'u');
  return { cel: `self.matches(r"${source}")`, check: (self: string) => expression.test(self) };
}

/** Of a string that does not; see `matching`. */
export function notMatching(source: string) {
  const { cel, check } = matching(source);
  return { cel: `!${cel}`, check: (self: string) => !check(self) };
}

/**
 * Of a URL that matches the expression. A host such as 256.1.1.1 or [::g] matches and is none: that cannot be said in CEL, so the
 * API server takes it, and the operator and the Config API refuse it.
 */
function matchingUrl(source: string) {
  const { cel, check } = matching(source);
  return { cel, check: (self: string) => check(self) && URL.canParse(self) };
}

/** The string at `at` is a URL that the server may fetch; whether the host is allowed is decided by the outbound guard at run time. */
export function fetchableUrl(at: string, query: 'withQuery' | 'withoutQuery'): Rule {
  const without = query === 'withQuery' ? 'a fragment' : 'a query or fragment';
  const message = `must be an https URL, or http to a loopback host, without user information or ${without}`;
  return rule<string>({ at, message, ...matchingUrl(urlPattern[query]) });
}

/** The string at `at` is a URL that events may be sent to; which addresses http may reach is decided by the server. */
export function endpointUrl(at: string): Rule {
  const message =
    'must be an https URL, or http where the installation allows it, without user information or a fragment';
  return rule<string>({ at, message, ...matchingUrl(endpointPattern) });
}
