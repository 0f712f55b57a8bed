/** The keys that the library signs with. Its own way makes a task of the thread pool of each ES256 signature, which costs more than the signature. */
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { ExternalSigningKey } from 'oidc-provider';
import type { TokenKey } from '../keys/index.ts';
import type { library } from './library.ts';

type Library = Awaited<ReturnType<typeof library>>;

/** Of an RSA key: it takes ten times as long, in which the thread serves others. */
const signInThreadPool = promisify<string, Buffer, KeyObject, Buffer>(sign);

const keyOf = (jwk: object) => ({ key: jwk as JsonWebKey, format: 'jwk' }) as const;

/** Of a retired key only the public half is there, which still verifies what it signed. */
export function signingKey(lib: Library, { kid, algorithm, publicJwk, privateJwk }: TokenKey): ExternalSigningKey {
  const verifying = createPublicKey(keyOf(publicJwk));
  const key = privateJwk && createPrivateKey(keyOf(privateJwk));
  class Signing extends lib.ExternalSigningKey {
    override keyObject() {
      return verifying;
    }
    override async sign(data: Uint8Array) {
      if (key === undefined) throw new Error('a retired key signs nothing');
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      if (algorithm === 'RS256') return signInThreadPool('sha256', bytes, key);
      return sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' });
    }
  }
  return Object.assign(new Signing(), { kid, alg: algorithm });
}
