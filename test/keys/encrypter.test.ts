import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createEncrypter, MasterKeyError } from '../../server/core/encrypter.ts';
import { placeOfSecret } from '../../server/tenants/secrets.ts';

const key = () => randomBytes(32).toString('base64url');
const place = ['signing_key', 'demo', 'kid', 'access'];

test('what is sealed opens again, and never looks alike twice', () => {
  const encrypter = createEncrypter(key());
  const secret = Buffer.from('a private key');
  const [one, two] = [encrypter.encrypt(secret, place), encrypter.encrypt(secret, place)];
  expect(one.equals(two)).toBe(false);
  expect(one.includes(secret)).toBe(false);
  expect(encrypter.decrypt(one, place)).toEqual(secret);
  expect(encrypter.decrypt(two, place)).toEqual(secret);
});

test('it opens in its own place only', () => {
  const encrypter = createEncrypter(key());
  const sealed = encrypter.encrypt(Buffer.from('x'), place);
  for (let i = 0; i < place.length; i++) {
    const elsewhere = place.with(i, `${place[i]}2`);
    expect(() => encrypter.decrypt(sealed, elsewhere)).toThrow(MasterKeyError);
  }
  expect(() => encrypter.decrypt(sealed, ['signing_key', 'demo', 'kidaccess'])).toThrow(MasterKeyError);
});

test("a tenant's secret opens in its own row only", () => {
  const encrypter = createEncrypter(key());
  const sealed = encrypter.encrypt(Buffer.from('x'), placeOfSecret('demo', 'mail.smtp'));
  expect(encrypter.decrypt(sealed, placeOfSecret('demo', 'mail.smtp')).toString()).toBe('x');
  for (const other of [placeOfSecret('shop', 'mail.smtp'), placeOfSecret('demo', 'login.idp')])
    expect(() => encrypter.decrypt(sealed, other)).toThrow(MasterKeyError);
});

test('it opens under its own key only, and says whose fault that is', () => {
  const sealed = createEncrypter(key()).encrypt(Buffer.from('x'), place);
  expect(() => createEncrypter(key()).decrypt(sealed, place)).toThrow(
    'ACCORD_MASTER_KEY is not the key that this database was encrypted with',
  );
});

test('any changed byte is noticed', () => {
  const encrypter = createEncrypter(key());
  const sealed = encrypter.encrypt(Buffer.from('secret'), place);
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed[i] = (changed[i] as number) ^ 1;
    expect(() => encrypter.decrypt(changed, place), `byte ${i}`).toThrow(MasterKeyError);
  }
  for (const length of [0, 1, 28, sealed.length - 1]) {
    expect(() => encrypter.decrypt(sealed.subarray(0, length), place), `${length} bytes`).toThrow(MasterKeyError);
  }
});

test('a master key is 32 bytes', () => {
  expect(() => createEncrypter(randomBytes(31).toString('base64url'))).toThrow('must be 32 bytes');
  expect(() => createEncrypter('')).toThrow(MasterKeyError);
});

test('a digest is the same for the same value in the same place under the same key, and only then', () => {
  const master = key();
  const digest = createEncrypter(master).digest(Buffer.from('secret'), place);
  expect(createEncrypter(master).digest(Buffer.from('secret'), place)).toBe(digest);
  const others = [
    createEncrypter(key()).digest(Buffer.from('secret'), place),
    createEncrypter(master).digest(Buffer.from('secret2'), place),
    createEncrypter(master).digest(Buffer.from('secret'), place.with(1, 'other')),
    createEncrypter(master).digest(Buffer.from('cret'), [...place.slice(0, -1), `${place.at(-1)}se`]),
  ];
  expect(new Set([digest, ...others]).size).toBe(5);
});
