/** The constraints of io.jwt.decode_verify: a key, and what the token must say. */
import { numberOf } from '../compare.ts';
import { NumberText, type RegoObject, type Value } from '../value.ts';
import { type BuiltinContext, refuse, stringOf } from './arguments.ts';
import { readKeys, type VerificationKey } from './jwt-keys.ts';

/** Empty texts ask for nothing. `keys` or `secret`, never both. `time`: nanoseconds. */
export type Constraints = {
  readonly keys: readonly VerificationKey[] | undefined;
  readonly secret: string;
  readonly alg: string;
  readonly iss: string;
  readonly aud: string;
  readonly time: number;
};

const NAMES: readonly Value[] = ['cert', 'secret', 'alg', 'iss', 'aud', 'time'];

/** Refuses what is unknown, and other than one kind of key. */
export function readConstraints(context: BuiltinContext, given: RegoObject): Constraints {
  for (const name of given.keys()) if (!NAMES.includes(name)) refuse();
  const text = (name: string): string => (given.has(name) ? stringOf(given.get(name)) : '');
  const keys = given.has('cert') ? readKeys(context, text('cert')) : undefined;
  const secret = text('secret');
  if ((keys === undefined) === (secret === '')) refuse();
  const time = given.has('time') ? timeOf(context, given.get('time')) : Number(context.now);
  return { keys, secret, alg: text('alg'), iss: text('iss'), aud: text('aud'), time };
}

function timeOf(context: BuiltinContext, value: Value | undefined): number {
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  const time = value instanceof NumberText ? numberOf(context, value) : isNumber ? Number(value) : refuse();
  return time >= 0 && Number.isFinite(time) ? time : refuse();
}
