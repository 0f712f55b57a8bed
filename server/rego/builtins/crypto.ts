/** crypto.md5, sha1, sha256 and crypto.hmac.*: digests of UTF-8 text as lower-case hexadecimal. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type Builtin, type BuiltinTable, stringOf } from './arguments.ts';

export const cryptoBuiltins: BuiltinTable = {
  'crypto.md5': hash('md5'),
  'crypto.sha1': hash('sha1'),
  'crypto.sha256': hash('sha256'),
  'crypto.hmac.md5': hmac('md5'),
  'crypto.hmac.sha1': hmac('sha1'),
  'crypto.hmac.sha256': hmac('sha256'),
  'crypto.hmac.sha512': hmac('sha512'),
  'crypto.hmac.equal': (_context, a, b) => {
    const [left, right] = [Buffer.from(stringOf(a)), Buffer.from(stringOf(b))];
    return left.length === right.length && timingSafeEqual(left, right);
  },
};

/** Setting up a digest takes 1-3 us. */
const DIGEST_FUEL = 200;

function hash(algorithm: string): Builtin {
  return (context, text) => {
    context.charge(DIGEST_FUEL);
    return createHash(algorithm).update(stringOf(text)).digest('hex');
  };
}

function hmac(algorithm: string): Builtin {
  return (context, text, key) => {
    context.charge(2 * DIGEST_FUEL);
    return createHmac(algorithm, stringOf(key)).update(stringOf(text)).digest('hex');
  };
}
