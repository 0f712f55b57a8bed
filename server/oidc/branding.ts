/** How the tenant's pages look: the part of the Tenant that people see when they log in. It has the Tenant's owner. */
import { isDeepStrictEqual } from 'node:util';
import { type Static, Type } from 'typebox';
import { definitionOf } from '../../crds/index.ts';
import { authorOf } from '../core/author.ts';
import { checkOwnership, type Writer } from '../core/ownership.ts';
import { checkIfMatch } from '../http/config-api.ts';
import { type ConfigWritten, type TenantSpec, updateTenant } from '../tenants/index.ts';
import { type ConfigWriteServices, write } from '../writes/index.ts';

const { displayName, login } = definitionOf('Tenant').specSchema.properties;
const { brand, languages, sharingPage } = login.properties;
const { logo, colours } = brand.properties;
const fields = { displayName, logo, colours, languages, sharingPage };
const example = {
  displayName: 'Cars of Ghent',
  logo: 'https://cars.example/logo.svg',
  colours: { primary: '#0b5cad' },
  languages: ['nl', 'en'],
  sharingPage: true,
};

/** The body of PUT C/branding. */
export const BrandingBody = Type.Object(fields, { additionalProperties: false, examples: [example] });
export type BrandingBody = Static<typeof BrandingBody>;

export const BrandingView = Type.Object(
  { ...fields, revision: Type.Integer(), managedBy: Type.String() },
  { examples: [{ ...example, revision: 41, managedBy: 'api' }] },
);

export function brandingOf({ displayName, login }: TenantSpec): BrandingBody {
  return {
    displayName,
    ...login?.brand,
    ...(login?.languages === undefined ? {} : { languages: login.languages }),
    ...(login?.sharingPage === undefined ? {} : { sharingPage: login.sharingPage }),
  };
}

/** Who may sign up stays as it is. */
function withBranding(spec: TenantSpec, branding: BrandingBody): TenantSpec {
  const { displayName, logo, colours, languages, sharingPage } = branding;
  const {
    brand: _brand,
    languages: _languages,
    sharingPage: _sharingPage,
    ...rest
  } = spec.login ?? { selfRegistration: 'invitation' as const };
  const brand = { ...(logo === undefined ? {} : { logo }), ...(colours === undefined ? {} : { colours }) };
  const told = {
    ...(Object.keys(brand).length === 0 ? {} : { brand }),
    ...(languages === undefined ? {} : { languages }),
    ...(sharingPage === undefined ? {} : { sharingPage }),
  };
  if (spec.login === undefined && Object.keys(told).length === 0) return { ...spec, displayName };
  return { ...spec, displayName, login: { ...rest, ...told } };
}

/**
 * Replaces how the tenant's pages look.
 * @param options ifMatch is compared with the tenant's revision
 * @throws Problem owned_by_manifest, config_authority, precondition_failed, tenant_not_found
 */
export async function putBranding(
  services: ConfigWriteServices,
  writer: Writer,
  tenant: string,
  branding: BrandingBody,
  options: { ifMatch?: string } = {},
): Promise<ConfigWritten<void>> {
  return write(services, authorOf(tenant, writer), { locks: 'configuration' }, async (unit) => {
    const { owner, spec, state, revision } = unit.tenantRow;
    checkOwnership(owner, writer, spec.configAuthority);
    checkIfMatch(options.ifMatch, revision);
    const next = withBranding(spec, branding);
    if (isDeepStrictEqual(spec, next)) return;
    await updateTenant(unit.tx, tenant, { spec: next, state }, writer);
    unit.changed('tenant', tenant, 'put', { branding });
  });
}
