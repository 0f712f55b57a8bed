/**
 * Files share a process where they leave nothing behind. This holds it: a file that changed what the next one finds fails,
 * whichever file that would have been.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, inject } from 'vitest';
import { WAIT_MS_MAX } from './wait.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Shorter where it is certain that something stays: test/left-behind.test.ts. */
    settleMsMax: number | undefined;
  }
}

/** A connection that was just closed is gone a moment later. What is there after this stays. */
const settleMsMax = inject('settleMsMax') ?? WAIT_MS_MAX;

const prototypes = {
  Object,
  Function,
  Array,
  String,
  Number,
  Boolean,
  Symbol,
  BigInt,
  RegExp,
  Date,
  Error,
  Promise,
  Map,
  Set,
};
/** Of what keeps a process alive: requests that are kept open for the next one are not of a file, and close by themselves. */
const counted = new Set(['Timeout', 'Immediate', 'ProcessWrap', 'TCPServerWrap', 'PipeServerWrap', 'FSEventWrap']);

/** The log's library listens for the end of the process, once for all files. */
const listeners = () =>
  process
    .eventNames()
    .filter((name) => name !== 'exit')
    .flatMap((name) => Array<string>(process.listenerCount(name)).fill(String(name)));
const running = () => process.getActiveResourcesInfo().filter((one) => counted.has(one));
/** The program sets GRAPHILE_ENV where nobody did, when it first answers a query of GraphQL (server/graphql/actions.ts). */
const environment = () =>
  Object.entries(process.env).flatMap(([name, value]) => (name === 'GRAPHILE_ENV' ? [] : [`${name}=${value}`]));
type Properties = Map<string, PropertyDescriptor>;

const propertiesOf = (of: object, prefix = ''): [string, PropertyDescriptor][] =>
  Reflect.ownKeys(of).map((key) => [
    `${prefix}${String(key)}`,
    Object.getOwnPropertyDescriptor(of, key) as PropertyDescriptor,
  ]);
const builtIn = (): Properties =>
  new Map([
    ...Object.entries(prototypes).flatMap(([name, { prototype }]) => propertiesOf(prototype, `${name}.prototype.`)),
    ...Object.entries({ Date, JSON, Math }).flatMap(([name, one]) => propertiesOf(one, `${name}.`)),
  ]);
// A library that is one for a process registers itself under a symbol, and the helpers of compiled code under __name.
const globals = (): Properties => new Map(propertiesOf(globalThis).filter(([name]) => !/^(__|Symbol\()/.test(name)));

const looked = {
  'the working directory': () => [process.cwd()],
  'environment variables': environment,
  'listeners of the process': listeners,
  'properties of what is built in': () => [...builtIn().keys()],
  globals: () => [...globals().keys()],
  'timers, processes and servers': running,
};

/** What is in the second list more often than in the first. */
function added(before: readonly string[], after: readonly string[]): string[] {
  const rest = [...before];
  return after.filter((one) => {
    const at = rest.indexOf(one);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** Node puts some globals in the place of what loads them, when they are first asked for. */
function isSame(one: PropertyDescriptor, now: PropertyDescriptor): boolean {
  if (one.get !== undefined && now.get === undefined) return one.get.call(globalThis) === now.value;
  return one.get === now.get && one.set === now.set && Object.is(one.value, now.value);
}
/** What has the same name and is another thing. */
const replaced = (before: Properties, after: Properties): string[] =>
  [...after].flatMap(([name, now]) => {
    const one = before.get(name);
    return one === undefined || isSame(one, now) ? [] : [name];
  });

const before = Object.entries(looked).map(([what, look]) => ({ what, look, found: look() }));
const valuesBefore = [builtIn, globals].map((look) => ({ look, found: look() }));

/** What ended is no longer in the way of anybody. */
const mayEnd = (what: string) => what === 'timers, processes and servers';
// A variable's value may be a secret, and is not printed.
const named = (what: string, one: string) => (what === 'environment variables' ? one.replace(/=.*/s, '') : one);

const changes = (): string[] => [
  ...before.flatMap(({ what, look, found }) => {
    const more = added(found, look()).map((one) => `+ ${named(what, one)}`);
    const less = mayEnd(what) ? [] : added(look(), found).map((one) => `- ${named(what, one)}`);
    const all = [...less, ...more];
    return all.length === 0 ? [] : [`${what}: ${all.join(', ')}`];
  }),
  ...valuesBefore.flatMap(({ look, found }) => replaced(found, look()).map((name) => `another ${name}`)),
];

// Registered before the hooks of the file, and run after them.
afterAll(async () => {
  for (const until = performance.now() + settleMsMax; changes().length > 0 && performance.now() < until; )
    await sleep(20); // what is closing tells nobody
  const left = changes();
  if (left.length > 0) throw new Error(`This file leaves something behind in its process. ${left.join('; ')}`);
});
