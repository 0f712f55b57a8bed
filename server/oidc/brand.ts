/** A tenant as its pages show it. */
import type { Brand } from '../pages/index.ts';
import type { TenantSpec } from '../tenants/index.ts';

export function brandOf({ displayName, login }: TenantSpec): Brand {
  const { logo, colours } = login?.brand ?? {};
  return {
    name: displayName,
    ...(logo === undefined ? {} : { logo }),
    ...(colours === undefined ? {} : { colour: colours.primary }),
    ...(colours?.background === undefined ? {} : { background: colours.background }),
  };
}
