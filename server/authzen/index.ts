/**
 * The AuthZEN room: the OpenID AuthZEN Authorization API 1.0 of each tenant, at /{tenant}/access/v1, and its metadata. Another way
 * of asking what the authorization and search rooms answer; it owns no table.
 */
export { authzenRoom } from './room.ts';
