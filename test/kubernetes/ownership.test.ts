/**
 * Two writers, one owner per object: random lives of a tenant, in which manifests and the Config API want the same names,
 * against a real API server, operator, server and database. ownership-model.ts says what must come of them.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useCluster } from '../helpers/cluster.ts';
import { type FaultProxy, startFaultProxy } from '../helpers/fault-proxy.ts';
import { drawn } from '../helpers/long.ts';
import { seed } from '../helpers/seed.ts';
import { createTestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';
import { registered, written } from './ownership-kinds.ts';
import {
  type Allowed,
  type Authority,
  emptyState,
  type IfMatch,
  type Name,
  nameOf,
  names,
  operate,
  placeOf,
  put,
  type Reason,
  remove,
  type Slot,
  type State,
  slots,
  type Wish,
} from './ownership-model.ts';
import { atWork, World } from './ownership-world.ts';

const cluster = await useCluster();
const server = await createTestServer();
let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await startFaultProxy(cluster);
});
afterAll(() => proxy?.close());

const slot = fc.constantFrom(...Object.keys(slots));
const name = fc.constantFrom(...names);
const content = fc.nat(2);
const ifMatch = fc.oneof(
  { weight: 4, arbitrary: fc.constant<IfMatch>('absent') },
  { weight: 1, arbitrary: fc.constantFrom<IfMatch>('any', 'current', 'stale') },
);
const wish: fc.Arbitrary<Wish> = fc.record({
  managementPolicy: fc.oneof(
    { weight: 3, arbitrary: fc.constant('Enforce' as const) },
    { weight: 2, arbitrary: fc.constantFrom('CreateOnly' as const, 'Observe' as const) },
  ),
  adoptionPolicy: fc.constantFrom('Refuse' as const, 'Adopt' as const),
  content,
  broken: fc.nat(5).map((n) => n === 0),
});
const authority = fc.constantFrom<Authority>('PerObject', 'Kubernetes', 'Api');
const allowed = fc.constantFrom<Allowed>('absent', 'both', 'both', 'selected');

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('apply' as const), slot, wish }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), slot, strip: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remake' as const), slot, wish }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('strip' as const), slot }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('tenant' as const), authority }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tenant' as const), allowed }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('put' as const), name, content, ifMatch }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), name, ifMatch }) },
  { weight: 1, arbitrary: fc.constant({ do: 'stop' as const }) },
  { weight: 2, arbitrary: fc.constant({ do: 'start' as const }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A world and the model of it, which go the same way step by step. */
class Life {
  readonly #world: World;
  readonly #state: State = emptyState();
  #reasons: ReadonlyMap<Slot, Reason> = new Map();
  readonly #done: Step[] = [];
  /** Whether something happened of which the operator is not told: it finds it when it looks at everything, by its timer. */
  #isUntold = false;
  /** What may have changed since they last met. Of the rest, which stays absent, only the end of a life is looked at. */
  readonly #touched = new Set<Name>();

  constructor(world: World) {
    this.#world = world;
  }

  async take(step: Step): Promise<void> {
    this.#done.push(step);
    if ('slot' in step) this.#touched.add(nameOf(step.slot));
    if ('name' in step) this.#touched.add(step.name);
    await this.#do(step);
    await this.meet();
    this.#isUntold = false;
  }

  /** Left alone, the world comes to what the model says. */
  async meet(): Promise<void> {
    if (!this.#world.isRunning) return;
    for (const name of this.#named()) this.#touched.add(name);
    this.#reasons = operate(this.#state);
    for (const name of this.#named()) this.#touched.add(name);
    let found: string | undefined;
    const isMet = async () => {
      found = await this.#difference();
      if (this.#isUntold && found !== undefined && found !== atWork) this.#world.resync();
      return found === undefined;
    };
    await until('what the model says', isMet).catch(() => {}); // what is different says more
    expect(found, this.#story()).toBeUndefined();
    this.#touched.clear();
  }

  /** Objects that are there, or that a manifest claims. */
  #named(): Name[] {
    const { manifests, rows } = this.#state;
    return [...rows.keys(), ...[...manifests.keys()].map(nameOf)];
  }

  /**
   * An operator that has not heard yet that a manifest is gone may still write what the manifest says. Of an object that is
   * left to the API, that stays. So the next step comes when the operator has heard of this one.
   */
  async #difference(): Promise<string | undefined> {
    return proxy.late > 0 ? atWork : this.#world.difference(this.#state, this.#reasons, this.#touched);
  }

  async end(): Promise<void> {
    if (!this.#world.isRunning) await this.#world.start();
    await this.meet();
    // What they have come to by what the operator was told is what the database and the manifests say.
    this.#world.resync();
    for (const name of names) this.#touched.add(name);
    await this.meet();
    for (const slot of [...this.#state.manifests.keys()]) {
      await this.#delete(slot, false);
      await this.meet();
    }
    await this.#world.end();
    // The cluster has objects of other tests, too, whose operators write while this one looks.
    const missed = server.observations.filter(
      (one) => one.kind === 'wakeup_missed' && this.#world.has((one as unknown as { resource: string }).resource),
    );
    expect(missed, this.#story()).toEqual([]);
  }

  #story(): string {
    const waiting = JSON.stringify(this.#world.waiting(), null, 1);
    return ['after', ...this.#done.map((step) => JSON.stringify(step)), `waiting: ${waiting}`, ''].join('\n');
  }

  async #do(step: Step): Promise<void> {
    const world = this.#world;
    const state = this.#state;
    if (step.do === 'apply') await this.#apply(step.slot, step.wish);
    else if (step.do === 'delete') await this.#delete(step.slot, step.strip);
    else if (step.do === 'remake') await this.#remake(step.slot, step.wish);
    else if (step.do === 'strip') await world.strip(step.slot);
    else if (step.do === 'tenant') {
      await world.changeTenant(step);
      if ('authority' in step) state.authority = step.authority;
      else state.allowed = step.allowed;
    } else if (step.do === 'put') {
      const expected = put(state, step.name, step.content, step.ifMatch);
      this.#answered(await world.ask('PUT', step.name, step.ifMatch, step.content), expected);
    } else if (step.do === 'remove') {
      const expected = remove(state, step.name, step.ifMatch);
      this.#answered(await world.ask('DELETE', step.name, step.ifMatch), expected);
    } else if (step.do === 'stop') await world.stop();
    else if (!world.isRunning) await world.start();
  }

  #answered(answer: { status: number; code?: string | undefined }, expected: { status: number; code?: string }): void {
    expect(answer, this.#story()).toEqual({ code: undefined, ...expected });
    this.#isUntold = true;
  }

  async #apply(slot: Slot, wish: Wish): Promise<void> {
    const known = this.#state.manifests.get(slot);
    // The API server takes changes of what is terminating, and nobody cares for them.
    if (known?.leaving) return;
    const { uid, creationTimestamp } = await this.#world.apply(slot, wish, known !== undefined);
    // Of two that came in one second the names say which is older: the later one may be, which the other is not told.
    const rivals = [...this.#state.manifests].filter(([other]) => other !== slot && nameOf(other) === nameOf(slot));
    if (rivals.some(([, { createdAt }]) => createdAt === creationTimestamp)) this.#isUntold = true;
    const broken = wish.broken && placeOf(slot).kind === 'Policy';
    this.#state.manifests.set(slot, { ...wish, broken, uid, createdAt: creationTimestamp, leaving: false });
  }

  async #delete(slot: Slot, strip: boolean): Promise<void> {
    const known = this.#state.manifests.get(slot);
    if (known === undefined) return;
    await this.#world.delete(slot);
    if (strip) await this.#world.strip(slot);
    known.leaving = true;
  }

  /** With the operator away it is another object under the same name, and nobody has seen it go. */
  async #remake(slot: Slot, wish: Wish): Promise<void> {
    if (!this.#state.manifests.has(slot)) return;
    await this.#delete(slot, true);
    await this.meet();
    this.#state.manifests.delete(slot);
    await this.#apply(slot, wish);
  }
}

/** Whose operator hears of the end of an object so much later than of all that came before. */
async function begin(lateMs: number): Promise<Life> {
  server.observations.length = 0;
  proxy.decide = ({ isWatch }) => (isWatch && lateMs > 0 ? { kind: 'late', ms: lateMs } : undefined);
  return new Life(await World.make(cluster, server, proxy.kubeconfig));
}

test.each(Object.keys(slots))('a manifest in the slot %s claims the name that the model says', (slot) => {
  const { kind, object, claims } = placeOf(slot);
  const spec = { tenantRef: { name: 'fleet' }, ...written[kind].spec(claims, 0, false) };
  const claim = registered.get(kind)?.kind.claims({ metadata: { name: object }, spec });
  expect(claim).toEqual({ tenant: 'fleet', name: claims });
});

test('a name goes to who waits for it, however late the operator hears that the one before is gone', async () => {
  const wish: Wish = { managementPolicy: 'Enforce', adoptionPolicy: 'Refuse', content: 1, broken: false };
  const life = await begin(500);
  await life.take({ do: 'apply', slot: 'first', wish });
  await life.take({ do: 'apply', slot: 'second', wish });
  await life.take({ do: 'delete', slot: 'first', strip: false });
  await life.end();
});

test('an object of each kind goes from the API to a manifest, and with it', async () => {
  const wish: Wish = { managementPolicy: 'Enforce', adoptionPolicy: 'Adopt', content: 1, broken: false };
  const life = await begin(0);
  for (const slot of ['first', ...registered.keys()].filter((slot) => slot in slots)) {
    await life.take({ do: 'put', name: nameOf(slot), content: 0, ifMatch: 'absent' });
    await life.take({ do: 'apply', slot, wish });
    await life.take({ do: 'put', name: nameOf(slot), content: 2, ifMatch: 'absent' });
    await life.take({ do: 'delete', slot, strip: false });
    await life.take({ do: 'put', name: nameOf(slot), content: 2, ifMatch: 'absent' });
    await life.take({ do: 'remove', name: nameOf(slot), ifMatch: 'current' });
  }
  await life.end();
});

const lives = Number(process.env.ACCORD_LIVES ?? drawn(8, 40));

test(
  `whoever writes, each object has the owner that the rule gives it (seed ${seed}, ACCORD_SEED)`,
  async () => {
    const from = performance.now();
    let ended = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(0, 100),
        fc.array(step, { minLength: 12, maxLength: 12 }),
        async (late, steps) => {
          const life = await begin(late);
          for (const step of steps) await life.take(step);
          await life.end();
          ended += 1;
          if (ended % 50 > 0) return;
          process.stdout.write(
            `${ended} lives in ${((performance.now() - from) / 1000).toFixed(0)} s (seed ${seed})\n`,
          );
        },
      ),
      { seed, numRuns: lives, endOnFailure: true },
    );
  },
  lives * 60_000,
);
