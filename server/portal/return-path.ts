/** Where a log-in leads afterwards: to a page of the portal, and never elsewhere. */
import { limits } from '../core/limits.ts';

const PAGE = /^\/portal(\/invitations\/accept)?$/;
const OF_APPLICATION = /^\/portal\/t\/[a-z][a-z0-9-]{1,39}([/?]|$)/;

/** @param asked as a browser asked for it, which may be anything */
export function returnPathOf(asked: unknown): string {
  if (typeof asked !== 'string') return '/portal';
  const [path = ''] = asked.split('?', 1);
  if (PAGE.test(path)) return path;
  return [asked, path].find(isOfApplication) ?? '/portal';
}

/** Only what a browser leaves as it is: dot segments, also encoded ones, backslashes and control characters do not pass. */
function isOfApplication(asked: string): boolean {
  if (!OF_APPLICATION.test(asked) || asked.length > limits.portalReturnPathCharsMax) return false;
  const { pathname, search } = new URL(asked, 'http://portal.invalid');
  return pathname + search === asked;
}
