/**
 * Encryption of secrets that lie in Postgres: with AES-256-GCM under ACCORD_MASTER_KEY, bound to the row
 * that holds them, so that a value moved to another row or tenant cannot be decrypted.
 */
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';

/** An encrypted value and the key at hand do not belong together. */
export class MasterKeyError extends Error {}

/** `place` says where the value lies (table, tenant, id, purpose) and is authenticated with it. */
export type Encrypter = {
  encrypt(value: Uint8Array, place: readonly string[]): Buffer;
  /** @throws MasterKeyError */
  decrypt(encrypted: Uint8Array, place: readonly string[]): Buffer;
  /** Tells whether a value is the same as another of this place, and nothing to whoever has no key. Base64url. */
  digest(value: Uint8Array, place: readonly string[]): string;
};

const FORMAT = 1;
const NONCE_BYTES = 12; // NIST SP 800-38D section 8.2.2: random nonces of 96 bits, for fewer than 2^32 values a key
const TAG_BYTES = 16;

/**
 * @param masterKey 32 bytes, base64url (ACCORD_MASTER_KEY)
 * @throws MasterKeyError when it is not 32 bytes
 */
export function createEncrypter(masterKey: string): Encrypter {
  const bytes = Buffer.from(masterKey, 'base64url');
  if (bytes.length !== 32) throw new MasterKeyError('ACCORD_MASTER_KEY must be 32 bytes, base64url');
  // KeyObjects: of bytes Node makes one at each use, and a digest takes 15 us instead of 2.4, a value of 700 bytes 18 instead of 5.
  const key = createSecretKey(bytes);
  const digestKey = createSecretKey(Buffer.from(hkdfSync('sha256', key, '', 'accord digest of sealed values', 32)));
  const bound = (place: readonly string[]) => Buffer.from(JSON.stringify([FORMAT, ...place]));
  return {
    encrypt(value, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound(place));
      return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()]);
    },
    decrypt(encrypted, place) {
      const bytes = Buffer.from(encrypted);
      if (bytes[0] !== FORMAT || bytes.length < 1 + NONCE_BYTES + TAG_BYTES) {
        throw new MasterKeyError(`${place.join('/')} is not an encrypted value`);
      }
      const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES }).setAAD(bound(place));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = decipher.update(bytes.subarray(1 + NONCE_BYTES, -TAG_BYTES));
      try {
        return Buffer.concat([opened, decipher.final()]);
      } catch (cause) {
        const message = 'cannot be decrypted: ACCORD_MASTER_KEY is not the key that this database was encrypted with';
        throw new MasterKeyError(`${place.join('/')} ${message}`, { cause });
      }
    },
    digest(value, place) {
      // The place is JSON, so that it ends where the value begins.
      return createHmac('sha256', digestKey).update(bound(place)).update(value).digest('base64url');
    },
  };
}
