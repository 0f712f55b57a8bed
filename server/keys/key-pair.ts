/** Key pairs: made here, encrypted at once, opened only to sign. */
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Algorithm } from '../core/auth/schema.ts';
import type { Encrypter } from '../core/encrypter.ts';
import type { EncryptedKeyRow, LastingPurpose, SigningKey, TokenPurpose } from './schema.ts';

/** The row's identity, which its private key is encrypted for. */
type KeyPlace = {
  table: 'signing_key' | 'installation_key';
  tenant: string;
  purpose: TokenPurpose | 'invitation' | LastingPurpose | 'portal';
};

/** A new key pair. Its kid is the RFC 7638 thumbprint of the public half. */
export async function makeKeyPair(
  encrypter: Encrypter,
  algorithm: Algorithm,
  place: KeyPlace,
): Promise<EncryptedKeyRow> {
  const pair = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(pair.publicKey);
  const kid = await calculateJwkThumbprint(jwk);
  const secret = Buffer.from(JSON.stringify(await exportJWK(pair.privateKey)));
  return {
    kid,
    algorithm,
    public_jwk: { ...jwk, kid, alg: algorithm, use: 'sig' },
    private_key: encrypter.encrypt(secret, encryptedFor(place, kid)),
  };
}

/** @throws MasterKeyError */
export async function openKey(encrypter: Encrypter, row: EncryptedKeyRow, place: KeyPlace): Promise<SigningKey> {
  const jwk = openJwk(encrypter, row, place);
  return { kid: row.kid, algorithm: row.algorithm, privateKey: (await importJWK(jwk, row.algorithm)) as CryptoKey };
}

/** The private half, with the kid, alg and use of the public one. @throws MasterKeyError */
export function openJwk(encrypter: Encrypter, row: EncryptedKeyRow, place: KeyPlace): JWK {
  const jwk = JSON.parse(encrypter.decrypt(row.private_key, encryptedFor(place, row.kid)).toString()) as JWK;
  return { ...jwk, kid: row.kid, alg: row.algorithm, use: 'sig' };
}

function encryptedFor(place: KeyPlace, kid: string): string[] {
  return [place.table, place.tenant, kid, place.purpose];
}
