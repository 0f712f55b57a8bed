/**
 * io.jwt.decode, decode_verify and verify_*: tokens that node:crypto signed here. What OPA's own cases say of them
 * stands in test/conformance; here are the instant, the bounds on keys, and what a call costs.
 */
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { limits } from '../../server/core/limits.ts';
import { readKeys } from '../../server/rego/builtins/jwt-keys.ts';
import { Instance, loadProgram } from '../../server/rego/evaluate.ts';
import { evaluatePlan } from '../../server/rego/plan/evaluate.ts';
import { loadPlan, type PlanProgram } from '../../server/rego/plan/program.ts';
import { closeCompiler, compileCode, NOW } from './policies.ts';

afterAll(closeCompiler);

const SECONDS = Number(NOW / 1_000_000_000n);
const CURVES = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' } as const;
const PSS = { padding: 6, saltLength: -1 };

type Keys = { publicKey: KeyObject; privateKey: KeyObject };
const rsa = generateKeyPairSync('rsa', { modulusLength: limits.rsaModulusBitsMin });
const others: Record<string, Keys> = {
  ...Object.fromEntries(
    Object.entries(CURVES).map(([name, namedCurve]) => [name, generateKeyPairSync('ec', { namedCurve })]),
  ),
  EdDSA: generateKeyPairSync('ed25519'),
};
const keysOf = (alg: string): Keys => others[alg] ?? rsa;

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function token(alg: string, payload: unknown, header: object = {}): string {
  const text = `${encode({ alg, typ: 'JWT', ...header })}.${encode(payload)}`;
  const hash = alg === 'EdDSA' ? null : `sha${alg.slice(2)}`;
  if (alg.startsWith('HS'))
    return `${text}.${createHmac(hash as string, 'secret')
      .update(text)
      .digest('base64url')}`;
  const key = keysOf(alg).privateKey;
  const options = alg.startsWith('ES') ? { dsaEncoding: 'ieee-p1363' as const } : alg.startsWith('PS') ? PSS : {};
  return `${text}.${sign(hash, Buffer.from(text), { key, ...options }).toString('base64url')}`;
}

const jwkOf = (alg: string, more: object = {}) => ({ ...keysOf(alg).publicKey.export({ format: 'jwk' }), ...more });
const pemOf = (alg: string) => keysOf(alg).publicKey.export({ format: 'pem', type: 'spki' }) as string;
const setOf = (...keys: object[]) => JSON.stringify({ keys });

const ASYMMETRIC = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const SYMMETRIC = ['HS256', 'HS384', 'HS512'];

describe.each(['plan', 'Wasm'] as const)('by %s', (way) => {
  let program: PlanProgram;
  let instance: Instance;

  beforeAll(async () => {
    const verify = [...ASYMMETRIC, ...SYMMETRIC].map((alg) => {
      const name = `io.jwt.verify_${alg.toLowerCase()}`;
      return `verified := ${name}(input.token, input.key) if input.alg == "${alg}"`;
    });
    const { wasm, plan } = await compileCode(`${verify.join('\n')}
decoded := io.jwt.decode(input.token)
checked := io.jwt.decode_verify(input.token, input.constraints)
obligations["verified"] := verified
obligations["decoded"] := decoded
obligations["checked"] := checked`);
    program = loadPlan(plan as string);
    instance = new Instance(loadProgram(wasm));
  });

  const evaluate = (input: unknown) => {
    const { result } =
      way === 'plan'
        ? { result: evaluatePlan(program, input, { now: NOW }).resultSet[0]?.result }
        : instance.evaluate(input, { now: NOW });
    return (result as { obligations: { verified?: boolean; decoded?: unknown[]; checked?: unknown[] } }).obligations;
  };
  const isChecked = (text: string, constraints: object) => evaluate({ token: text, constraints }).checked?.[0];

  test.each(ASYMMETRIC)('%s: a key as PEM, as JWK and in a set; not another', (alg) => {
    const text = token(alg, { sub: 'ann' });
    const forged = `${text.split('.')[0]}.${encode({ sub: 'bob' })}.${text.split('.')[2]}`;
    for (const key of [pemOf(alg), JSON.stringify(jwkOf(alg)), setOf(jwkOf(alg, { kid: 'a', alg }))]) {
      expect(evaluate({ token: text, key, alg }).verified).toBe(true);
      expect(evaluate({ token: forged, key, alg }).verified).toBe(false);
      expect(evaluate({ token: text, constraints: { cert: key } }).checked).toEqual([
        true,
        { alg, typ: 'JWT' },
        { sub: 'ann' },
      ]);
      expect(evaluate({ token: forged, constraints: { cert: key } }).checked).toEqual([false, {}, {}]);
    }
    const other = alg === 'EdDSA' ? pemOf('ES256') : pemOf('EdDSA');
    expect(evaluate({ token: text, key: other, alg }).verified).toBe(false);
    expect(evaluate({ token: text, key: 'no key', alg })).toEqual({ decoded: expect.anything() });
  });

  test.each(SYMMETRIC)('%s', (alg) => {
    const text = token(alg, { sub: 'ann' });
    expect(evaluate({ token: text, key: 'secret', alg }).verified).toBe(true);
    expect(evaluate({ token: text, key: 'Secret', alg }).verified).toBe(false);
    expect(isChecked(text, { secret: 'secret' })).toBe(true);
    expect(isChecked(text, { secret: 'Secret' })).toBe(false);
    expect(isChecked(text, { secret: 'secret', alg: 'RS256' })).toBe(false);
  });

  test('a public key is no secret: HS256 over it is not verified', () => {
    const pem = pemOf('RS256');
    const text = `${encode({ alg: 'HS256' })}.${encode({})}`;
    const forged = `${text}.${createHmac('sha256', pem).update(text).digest('base64url')}`;
    expect(isChecked(forged, { cert: pem })).toBe(false);
    expect(isChecked(`${encode({ alg: 'none' })}.${encode({})}.`, { cert: pem })).toBe(false);
    expect(isChecked(`${encode({ alg: 'none' })}.${encode({})}.`, { secret: 'x' })).toBe(false);
  });

  test('the key that the token names is the only one tried', () => {
    const keys = setOf(jwkOf('ES256', { kid: 'a' }), jwkOf('RS256', { kid: 'b' }));
    expect(isChecked(token('RS256', {}, { kid: 'b' }), { cert: keys })).toBe(true);
    expect(isChecked(token('RS256', {}, { kid: 'a' }), { cert: keys })).toBe(false);
    expect(isChecked(token('RS256', {}, { kid: 'c' }), { cert: keys })).toBe(true);
    expect(isChecked(token('RS256', {}), { cert: setOf(jwkOf('RS256', { alg: 'RS512' })) })).toBe(false);
  });

  test("exp and nbf are judged at the request's instant, or at the one that is given", () => {
    const at = (claims: object, more: object = {}) => isChecked(token('HS256', claims), { secret: 'secret', ...more });
    expect(at({ exp: SECONDS + 1, nbf: SECONDS })).toBe(true);
    expect(at({ exp: SECONDS })).toBe(false);
    expect(at({ nbf: SECONDS + 1 })).toBe(false);
    expect(at({ exp: SECONDS + 0.2 })).toBe(true);
    expect(at({ exp: 1000 }, { time: 999e9 })).toBe(true);
    expect(at({ exp: 1000 }, { time: 1000e9 })).toBe(false);
    expect(at({ exp: '1000' })).toBeUndefined();
    expect(at({}, { time: -1 })).toBeUndefined();
  });

  test('iss and aud', () => {
    const with_ = (claims: object, more: object) => isChecked(token('HS256', claims), { secret: 'secret', ...more });
    expect(with_({ iss: 'i' }, { iss: 'i' })).toBe(true);
    expect(with_({ iss: 'j' }, { iss: 'i' })).toBe(false);
    expect(with_({}, { iss: 'i' })).toBe(false);
    expect(with_({ aud: ['x', 'y'] }, { aud: 'y' })).toBe(true);
    expect(with_({ aud: 'y' }, {})).toBe(false); // an audience that nobody asked for
    expect(with_({}, { aud: 'y' })).toBe(false);
  });

  test.each([
    ['unknown constraints', { secret: 'secret', sub: 'ann' }],
    ['no key', { iss: 'i' }],
    ['two kinds of keys', { secret: 'secret', cert: '{"keys": []}' }],
    ['a secret that is no text', { secret: 1 }],
  ])('%s are undefined', (_, constraints) => {
    expect(isChecked(token('HS256', {}), constraints)).toBeUndefined();
  });

  test('crit: what is unknown here is not verified', () => {
    const of = (header: object) => isChecked(token('HS256', {}, header), { secret: 'secret' });
    expect(of({ crit: ['b64'], b64: false })).toBe(false);
    expect(of({ crit: ['alg'] })).toBe(true);
    expect(of({ crit: [] })).toBeUndefined();
    expect(of({ kid: 7 })).toBeUndefined();
  });

  test('a token in a token', () => {
    const inner = token('HS256', { sub: 'ann' });
    const part = Buffer.from(`"${inner}"`).toString('base64url');
    const text = `${encode({ alg: 'HS256', cty: 'JWT' })}.${part}.AA`;
    expect(evaluate({ token: text }).decoded?.slice(0, 2)).toEqual([{ alg: 'HS256', typ: 'JWT' }, { sub: 'ann' }]);
  });

  test.each([
    'a.b',
    'a.b.c.d',
    '..',
    'e30.e30.!',
    'W10.e30.AA',
    'e30.W10.AA',
    `${encode({ enc: 'A256GCM' })}.e30.AA`,
    'e30.e30x.AA',
  ])('%s is no token', (text) => {
    expect(evaluate({ token: text })).toEqual({});
  });

  test('decode gives the signature as hexadecimal', () => {
    expect(evaluate({ token: 'e30.eyJhIjoxfQ.AP8' }).decoded).toEqual([{}, { a: 1 }, '00ff']);
  });

  test('keys past the bounds verify nothing', () => {
    const short = generateKeyPairSync('rsa', { modulusLength: limits.rsaModulusBitsMin - 8 });
    const text = `${encode({ alg: 'RS256' })}.${encode({})}`;
    const signed = `${text}.${sign('sha256', Buffer.from(text), short.privateKey).toString('base64url')}`;
    const pem = short.publicKey.export({ format: 'pem', type: 'spki' });
    expect(evaluate({ token: signed, key: pem, alg: 'RS256' }).verified).toBe(false);
    expect(isChecked(signed, { cert: pem })).toBe(false);
  });
});

describe('reading keys', () => {
  const spent = { units: 0 };
  const context = {
    now: NOW,
    charge: (units: number) => {
      spent.units += units;
    },
  };
  const modulus = (bits: number) => {
    const bytes = randomBytes(bits / 8);
    bytes[0] = (bytes[0] as number) | 0x80;
    bytes[bytes.length - 1] = (bytes.at(-1) as number) | 1;
    return bytes.toString('base64url');
  };
  const isUsable = (jwk: object) => readKeys(context, JSON.stringify(jwk))[0]?.key !== undefined;
  const exponent = (value: bigint) =>
    Buffer.from(value.toString(16).padStart(Math.ceil(value.toString(16).length / 2) * 2, '0'), 'hex').toString(
      'base64url',
    );

  test.each([
    [limits.rsaModulusBitsMin, true],
    [limits.rsaModulusBitsMin - 8, false],
    [limits.rsaModulusBitsMax, true],
    [limits.rsaModulusBitsMax + 8, false],
    [1024 * 1024, false],
  ])('a modulus of %i bits: %s', (bits, usable) => {
    expect(isUsable({ kty: 'RSA', n: modulus(bits), e: 'AQAB' })).toBe(usable);
  });

  test.each([
    [3n, true],
    [65537n, true],
    [2n ** 32n - 1n, true],
    [2n ** 32n + 1n, false],
    [2n ** 512n + 1n, false],
    [1n, false],
  ])('an exponent of %i: %s', (value, usable) => {
    expect(isUsable({ kty: 'RSA', n: modulus(2048), e: exponent(value) })).toBe(usable);
  });

  test('the exponent of a PEM key is bounded as well', () => {
    const jwk = { kty: 'RSA', n: modulus(2048), e: exponent(2n ** 40n + 1n) };
    const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ format: 'pem', type: 'spki' }) as string;
    expect(readKeys(context, pem)[0]?.key).toBeUndefined();
  });

  test('each key of a set is charged', () => {
    spent.units = 0;
    readKeys(context, setOf(...Array.from({ length: 10 }, () => jwkOf('ES256'))));
    expect(spent.units).toBeGreaterThan(10_000);
  });
});

test('many verifications end with the budget', async () => {
  const { plan, wasm } = await compileCode(
    'obligations contains i if { some i in numbers.range(1, 1000); not io.jwt.verify_es512(input.token, input.key) }',
  );
  const input = { token: `${token('ES512', {})}`.replace('e30', 'e31'), key: pemOf('ES512') };
  expect(() => evaluatePlan(loadPlan(plan as string), input, { now: NOW })).toThrow(/budget/);
  expect(() => new Instance(loadProgram(wasm)).evaluate(input, { now: NOW })).toThrow(/budget/);
});
