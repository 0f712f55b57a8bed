/**
 * The tenant whose end users are the members of all tenants: its issuer, {base}/portal/oidc, is where they log in. No manifest may
 * have its code, nobody configures it, and it answers nothing but its authorization server (http/access.ts).
 */
export const portalTenant = 'portal';
