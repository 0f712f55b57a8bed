import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSealer, MasterKeyError } from '../../server/core/sealer.ts';

const key = () => randomBytes(32).toString('base64url');
const place = ['signing_key', 'demo', 'kid', 'access'];

test('what is sealed opens again, and never looks alike twice', () => {
  const sealer = createSealer(key());
  const secret = Buffer.from('a private key');
  const [one, two] = [sealer.seal(secret, place), sealer.seal(secret, place)];
  expect(one.equals(two)).toBe(false);
  expect(one.includes(secret)).toBe(false);
  expect(sealer.open(one, place)).toEqual(secret);
  expect(sealer.open(two, place)).toEqual(secret);
});

test('it opens in its own place only', () => {
  const sealer = createSealer(key());
  const sealed = sealer.seal(Buffer.from('x'), place);
  for (let i = 0; i < place.length; i++) {
    const elsewhere = place.with(i, `${place[i]}2`);
    expect(() => sealer.open(sealed, elsewhere)).toThrow(MasterKeyError);
  }
  expect(() => sealer.open(sealed, ['signing_key', 'demo', 'kidaccess'])).toThrow(MasterKeyError);
});

test('it opens under its own key only, and says whose fault that is', () => {
  const sealed = createSealer(key()).seal(Buffer.from('x'), place);
  expect(() => createSealer(key()).open(sealed, place)).toThrow(
    'ACCORD_MASTER_KEY is not the key that this database was sealed with',
  );
});

test('any changed byte is noticed', () => {
  const sealer = createSealer(key());
  const sealed = sealer.seal(Buffer.from('secret'), place);
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed[i] = (changed[i] as number) ^ 1;
    expect(() => sealer.open(changed, place), `byte ${i}`).toThrow(MasterKeyError);
  }
  for (const length of [0, 1, 28, sealed.length - 1]) {
    expect(() => sealer.open(sealed.subarray(0, length), place), `${length} bytes`).toThrow(MasterKeyError);
  }
});

test('a master key is 32 bytes', () => {
  expect(() => createSealer(randomBytes(31).toString('base64url'))).toThrow('must be 32 bytes');
  expect(() => createSealer('')).toThrow(MasterKeyError);
});

test('a digest is the same for the same value in the same place under the same key, and only then', () => {
  const master = key();
  const digest = createSealer(master).digest(Buffer.from('secret'), place);
  expect(createSealer(master).digest(Buffer.from('secret'), place)).toBe(digest);
  const others = [
    createSealer(key()).digest(Buffer.from('secret'), place),
    createSealer(master).digest(Buffer.from('secret2'), place),
    createSealer(master).digest(Buffer.from('secret'), place.with(1, 'other')),
    createSealer(master).digest(Buffer.from('cret'), [...place.slice(0, -1), `${place.at(-1)}se`]),
  ];
  expect(new Set([digest, ...others]).size).toBe(5);
});
