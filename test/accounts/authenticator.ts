/** An authenticator in software: makes ES256 credentials and assertions as WebAuthn has them, and lies where it is told to. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

type Options = { challenge: string; rpId?: string; rp?: { id?: string } };
type Lies = {
  origin?: string;
  rpId?: string;
  challenge?: string;
  userVerified?: boolean;
  userHandle?: string;
  counter?: number;
};

const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest();
const b64 = (data: Uint8Array) => Buffer.from(data).toString('base64url');

export class Authenticator {
  readonly id = randomBytes(32);
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject };
  readonly #origin: string;
  #counter = 0;
  #handle = '';

  constructor(origin: string) {
    this.#origin = origin;
    this.#keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  }

  #authData(rpId: string, flags: number, attested = Buffer.alloc(0), counter = ++this.#counter): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.of(flags), count, attested]);
  }

  #clientData(type: string, challenge: string, origin = this.#origin): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  create(options: Options & { user: { id: string } }, lies: Lies = {}): Record<string, unknown> {
    this.#handle = options.user.id;
    const jwk = this.#keys.publicKey.export({ format: 'jwk' });
    const cose = new Map<number, number | Uint8Array>([
      ...([
        [1, 2],
        [3, -7],
        [-1, 1],
      ] as const),
      [-2, new Uint8Array(Buffer.from(jwk.x as string, 'base64url'))],
      [-3, new Uint8Array(Buffer.from(jwk.y as string, 'base64url'))],
    ]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, this.id, isoCBOR.encode(cose)]);
    const rpId = lies.rpId ?? options.rp?.id ?? '';
    const authData = this.#authData(rpId, lies.userVerified === false ? 0x41 : 0x45, attested, lies.counter);
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', new Uint8Array(authData)],
    ]);
    const clientData = this.#clientData('webauthn.create', lies.challenge ?? options.challenge, lies.origin);
    return {
      ...{ id: b64(this.id), rawId: b64(this.id), type: 'public-key', clientExtensionResults: {} },
      response: {
        clientDataJSON: b64(clientData),
        attestationObject: b64(isoCBOR.encode(attestation as never)),
        transports: ['internal'],
      },
    };
  }

  get(options: Options, lies: Lies = {}): Record<string, unknown> {
    const flags = lies.userVerified === false ? 0x01 : 0x05;
    const authData = this.#authData(lies.rpId ?? options.rpId ?? '', flags, undefined, lies.counter);
    const clientData = this.#clientData('webauthn.get', lies.challenge ?? options.challenge, lies.origin);
    const signature = sign('sha256', Buffer.concat([authData, sha256(clientData)]), this.#keys.privateKey);
    return {
      ...{ id: b64(this.id), rawId: b64(this.id), type: 'public-key', clientExtensionResults: {} },
      response: {
        clientDataJSON: b64(clientData),
        authenticatorData: b64(authData),
        signature: b64(signature),
        userHandle: lies.userHandle ?? this.#handle,
      },
    };
  }
}
