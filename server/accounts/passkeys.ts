/**
 * Passkeys: WebAuthn credentials that prove the person (user verification). The RP ID is the host of the installation's base URL, so all its
 * tenants share it: the user handle names tenant and account, and is compared.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { By } from '../core/author.ts';
import { limits } from '../core/limits.ts';
import { isText } from '../core/text.ts';
import { type RecordUnit, write } from '../writes/index.ts';
import { accountAuthor, actorTypeOf, nameOf, requireTenant } from './actions.ts';
import {
  consumeChallenge,
  countCredentials,
  deleteCredential,
  insertCredential,
  listCredentials,
  readCredential,
  recordCredentialUse,
} from './credential-store.ts';
import { requireOtherMethod } from './identities.ts';
import type { LoggedIn, Refused } from './logging-in.ts';
import { accountProblem } from './problems.ts';
import { accountOf } from './rules.ts';
import type { AccountRow, CredentialRow } from './schema.ts';
import type { AccountServices } from './services.ts';
import { readAccountRow } from './store.ts';

/** ES256 and RS256, which all authenticators have one of. */
const ALGORITHMS = [-7, -257];
const RANDOM_BYTES = 16;
const EXPIRY_BYTES = 6;

export type Passkey = { id: string; name: string; createdAt: string; usedAt?: string; backedUp: boolean };

/** What a browser sends as JSON, which is anything until the library has read it. */
export type PasskeyResponse = Readonly<Record<string, unknown>> | null;

const partyOf = ({ baseUrl }: AccountServices) => {
  const { hostname, origin } = new URL(baseUrl);
  return { rpID: hostname, origin };
};

/** At most 64 bytes (WebAuthn section 4): a tenant's code has at most 40. */
function handleOf(tenant: string, account: string): Buffer {
  return Buffer.concat([Buffer.from(`${tenant}:`), Buffer.from(account.replaceAll('-', ''), 'hex')]);
}

/** Issued without a row, because everybody may ask for one: it says itself when it expires, and what for it is. */
function makeChallenge(services: AccountServices, tenant: string, of: string): Buffer {
  const body = Buffer.concat([randomBytes(RANDOM_BYTES), Buffer.alloc(EXPIRY_BYTES)]);
  body.writeUIntBE(services.clock.now() + limits.challengeTtlMs, RANDOM_BYTES, EXPIRY_BYTES);
  return Buffer.concat([body, sealOf(services, tenant, of, body)]);
}

function sealOf({ encrypter }: AccountServices, tenant: string, of: string, body: Buffer): Buffer {
  return Buffer.from(encrypter.digest(body, ['passkey_challenge', tenant, of]), 'base64url');
}

function isOurChallenge(services: AccountServices, tenant: string, of: string, text: string): boolean {
  const bytes = Buffer.from(text, 'base64url');
  const body = bytes.subarray(0, RANDOM_BYTES + EXPIRY_BYTES);
  const [seal, ours] = [bytes.subarray(body.length), sealOf(services, tenant, of, body)];
  if (seal.length !== ours.length || !timingSafeEqual(seal, ours)) return false;
  return body.readUIntBE(RANDOM_BYTES, EXPIRY_BYTES) > services.clock.now();
}

const registrationOf = (account: string) => `register:${account}`;
const LOG_IN = 'log-in';

/** Options for navigator.credentials.create. @throws Problem account_not_found */
export async function passkeyRegistrationOptions(services: AccountServices, tenant: string, account: string) {
  const [row, known] = await services.database.read(tenant, (tx) =>
    Promise.all([readAccountRow(tx, tenant, account), listCredentials(tx, tenant, account)]),
  );
  if (!row?.enabled) throw accountProblem('account_not_found');
  return generateRegistrationOptions({
    ...{
      rpName: tenant,
      rpID: partyOf(services).rpID,
      userName: row.email,
      userDisplayName: row.display_name ?? row.email,
    },
    ...{
      userID: new Uint8Array(handleOf(tenant, account)),
      supportedAlgorithmIDs: ALGORITHMS,
      attestationType: 'none',
    },
    challenge: new Uint8Array(makeChallenge(services, tenant, registrationOf(account))),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: known.map(({ id }) => ({ id })),
    timeout: limits.challengeTtlMs,
  });
}

type Registering = { account: string; response: PasskeyResponse; name?: string | undefined; requestId?: string };

/** Adds a passkey to an account. @throws Problem passkey_refused, passkey_quota_reached, account_not_found */
export async function registerPasskey(
  services: AccountServices,
  tenant: string,
  { account, response, name, requestId }: Registering,
): Promise<Passkey> {
  const { rpID, origin } = partyOf(services);
  const label = passkeyNameOf(name);
  let challenge = '';
  const { registrationInfo: made } = await orRefused(response, () =>
    verifyRegistrationResponse({
      ...{ response: response as unknown as RegistrationResponseJSON, expectedOrigin: origin, expectedRPID: rpID },
      ...{ requireUserVerification: true, supportedAlgorithmIDs: ALGORITHMS },
      expectedChallenge: (given) => {
        challenge = given;
        return isOurChallenge(services, tenant, registrationOf(account), given);
      },
    }),
  );
  if (made === undefined) throw accountProblem('passkey_refused');
  const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const { tx, nowText: now } = unit;
    const tenantRow = await requireTenant(tx, tenant);
    if (!(await readAccountRow(tx, tenant, account, true))?.enabled) throw accountProblem('account_not_found');
    if (!(await useChallenge(unit, challenge))) throw accountProblem('passkey_refused');
    const count = await countCredentials(tx, tenant, account);
    if (count >= limits.passkeysMax) throw accountProblem('passkey_quota_reached');
    const { credential, credentialBackedUp: backed_up } = made;
    const row = await insertCredential(tx, tenant, {
      ...{ id: credential.id, account, name: label ?? `Passkey ${count + 1}`, backed_up, created_at: now },
      ...{ public_key: Buffer.from(credential.publicKey), counter: credential.counter },
      transports: credential.transports ?? [],
    });
    if (row === undefined) throw accountProblem('passkey_refused');
    const { by } = accountAuthor(tenant, actorTypeOf(tenantRow), account, requestId);
    unit.as(by).audit({ action: 'create', kind: 'passkey', name: nameOf(tenantRow, account) });
    return row;
  });
  return viewOf(result);
}

/** The device has the passkey already when its name arrives: what cannot stand in a name is left out, and nothing is refused. */
function passkeyNameOf(name = ''): string | undefined {
  const line = name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
  return [...line].slice(0, limits.passkeyNameCharsMax).join('') || undefined;
}

/** Options for navigator.credentials.get, for whoever logs in. */
export function passkeyLogInOptions(services: AccountServices, tenant: string) {
  return generateAuthenticationOptions({
    ...{ rpID: partyOf(services).rpID, userVerification: 'required', timeout: limits.challengeTtlMs },
    challenge: new Uint8Array(makeChallenge(services, tenant, LOG_IN)),
  });
}

/** Logs somebody in by a passkey, also while passwords have to wait. */
export async function logInWithPasskey(
  services: AccountServices,
  tenant: string,
  response: PasskeyResponse,
): Promise<LoggedIn | Refused> {
  const id = response?.id;
  const known =
    typeof id === 'string' && isText(id)
      ? await services.database.read(tenant, (tx) => readCredential(tx, tenant, id))
      : undefined;
  if (known === undefined) return { refused: 'credentials' };
  const proved = await proofOf(services, tenant, response, known).catch(() => undefined);
  if (proved === undefined) return { refused: 'credentials' };
  const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const { tx, nowText: now } = unit;
    const account = await readAccountRow(tx, tenant, known.account, true);
    if (!account?.enabled) return undefined;
    if (!(await useChallenge(unit, proved.challenge))) return undefined;
    const used = await recordCredentialUse(tx, tenant, known.id, { counter: proved.counter, now });
    return used === 1 ? account : undefined;
  });
  return result === undefined ? { refused: 'credentials' } : { account: accountOf(result), amr: ['pop', 'user'] };
}

async function proofOf(services: AccountServices, tenant: string, response: PasskeyResponse, known: CredentialRow) {
  const { rpID, origin } = partyOf(services);
  const given = response as unknown as AuthenticationResponseJSON;
  let challenge = '';
  const { authenticationInfo: info } = await orRefused(response, () =>
    verifyAuthenticationResponse({
      ...{ response: given, expectedOrigin: origin, expectedRPID: rpID, requireUserVerification: true },
      credential: { id: known.id, publicKey: new Uint8Array(known.public_key), counter: known.counter },
      expectedChallenge: (text) => {
        challenge = text;
        return isOurChallenge(services, tenant, LOG_IN, text);
      },
    }),
  );
  const handle = Buffer.from(given.response.userHandle ?? '', 'base64url');
  if (!handle.equals(handleOf(tenant, known.account))) throw accountProblem('passkey_refused');
  return { challenge, counter: info.newCounter };
}

/** @throws Problem passkey_refused, with what the library says as its cause */
async function orRefused<Verified extends { verified: boolean }>(
  response: PasskeyResponse,
  verify: () => Promise<Verified>,
): Promise<Verified> {
  try {
    if (JSON.stringify(response).length > limits.passkeyResponseBytesMax) throw new Error('the response is too long');
    const verified = await verify();
    if (!verified.verified) throw new Error('the signature is wrong');
    return verified;
  } catch (cause) {
    throw accountProblem('passkey_refused', { cause });
  }
}

/** False when the challenge was answered before. */
async function useChallenge(unit: RecordUnit, challenge: string): Promise<boolean> {
  const expiry = Buffer.from(challenge, 'base64url').readUIntBE(RANDOM_BYTES, EXPIRY_BYTES);
  return (await consumeChallenge(unit.tx, unit.tenant, challenge, new Date(expiry).toISOString())) > 0;
}

export async function listPasskeys(services: AccountServices, tenant: string, account: string): Promise<Passkey[]> {
  return (await services.database.read(tenant, (tx) => listCredentials(tx, tenant, account))).map(viewOf);
}

/** Removes a passkey of the account. @throws Problem passkey_not_found, last_login_method */
export async function removePasskey(
  services: AccountServices,
  tenant: string,
  { account, id, requestId }: { account: string; id: string; requestId?: By['requestId'] },
): Promise<void> {
  await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    const tenantRow = await requireTenant(tx, tenant);
    const row = (await readAccountRow(tx, tenant, account, true)) as AccountRow | undefined;
    if ((await deleteCredential(tx, tenant, account, id)) === 0 || row === undefined)
      throw accountProblem('passkey_not_found');
    await requireOtherMethod(tx, tenant, row);
    const { by } = accountAuthor(tenant, actorTypeOf(tenantRow), account, requestId);
    unit.as(by).audit({ action: 'delete', kind: 'passkey', name: nameOf(tenantRow, account) });
  });
}

function viewOf({ id, name, created_at: createdAt, used_at: usedAt, backed_up: backedUp }: CredentialRow): Passkey {
  return { id, name, createdAt, ...(usedAt === null ? {} : { usedAt }), backedUp };
}
