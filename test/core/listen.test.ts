import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { listen } from '../../server/core/db/listen.ts';
import { asAdmin, outageOf } from '../helpers/admin.ts';
import { createTestDatabase } from '../helpers/database.ts';
import { untilPasses } from '../helpers/wait.ts';

const { database, adminUrl, observations } = await createTestDatabase();

/** As a pooler in transaction mode: statements go to connections that their caller does not hear from. */
class Pooled extends pg.Client {
  readonly #own: pg.Client;
  readonly #others: pg.Client;
  constructor(own: pg.Client, others: pg.Client) {
    super();
    this.#own = own;
    this.#others = others;
    own.on('error', () => {});
    others.on('error', () => {});
  }
  override connect = (async () => {
    await Promise.all([this.#own.connect(), this.#others.connect()]);
  }) as unknown as pg.Client['connect'];
  override query = ((text: string) => this.#others.query(text)) as pg.Client['query'];
  override end = (async () => {
    await Promise.all([this.#own.end(), this.#others.end()]);
  }) as pg.Client['end'];
}

describe('LISTEN', () => {
  test('hears, and after its connection was killed catches up and hears again', async () => {
    const heard: string[] = [];
    let connects = 0;
    const listener = listen({
      database,
      subscriptions: [{ channel: 'accord_test', received: (payload) => heard.push(payload), missed: () => connects++ }],
      observe: (observation) => observations.push(observation),
      heartbeatMs: 100,
    });
    try {
      await untilPasses('connects to be 1', () => expect(connects).toBe(1));
      await asAdmin(adminUrl, `select pg_notify('accord_test', 'first')`);
      await untilPasses("heard to equal ['first']", () => expect(heard).toEqual(['first']));
      await asAdmin(
        adminUrl,
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test-listen'`,
      );
      await untilPasses('connects to be 2', () => expect(connects).toBe(2));
      await asAdmin(adminUrl, `select pg_notify('accord_test', 'second')`);
      await untilPasses("heard to equal ['first', 'second']", () => expect(heard).toEqual(['first', 'second']));
      expect(observations.map((one) => one.kind)).toContain('database_lost');
      expect(observations.map((one) => one.kind)).toContain('listen_reconnected');
    } finally {
      await listener.close();
    }
  });

  test('tells every subscriber of a channel, also where one throws, and of no other', async () => {
    const heard: string[] = [];
    const missed: string[] = [];
    const subscriber = (name: string, channel: string) => ({
      channel,
      received: (payload: string) => heard.push(`${name} ${payload}`),
      missed: () => missed.push(name),
    });
    const observed: string[] = [];
    const fails = () => {
      throw new Error('it fails');
    };
    const throwing = { channel: 'accord_one', received: fails, missed: fails };
    const listener = listen({
      database,
      subscriptions: [
        throwing,
        subscriber('a', 'accord_one'),
        subscriber('b', 'accord_two'),
        subscriber('c', 'accord_one'),
      ],
      observe: ({ kind }) => observed.push(kind),
    });
    try {
      await untilPasses("missed to equal ['a', 'b', 'c']", () => expect(missed).toEqual(['a', 'b', 'c']));
      await asAdmin(adminUrl, `select pg_notify('accord_one', '1'), pg_notify('accord_two', '2')`);
      await untilPasses("heard to equal ['a 1', 'c 1', 'b 2']", () => expect(heard).toEqual(['a 1', 'c 1', 'b 2']));
      expect(observed).toEqual(['background_failed', 'background_failed']);
    } finally {
      await listener.close();
    }
  });

  test('says that nothing arrives, where a pooler gives each statement another connection, and goes on', async () => {
    const observed: string[] = [];
    let connects = 0;
    const listener = listen({
      database: {
        client: () => new Pooled(database.client(), database.client()),
        notify: (one) => database.notify(one),
      },
      subscriptions: [{ channel: 'accord_test', received: () => {}, missed: () => connects++ }],
      observe: ({ kind }) => observed.push(kind),
    });
    try {
      await untilPasses('connects to be 1', () => expect(connects).toBe(1));
      await untilPasses('what it observed', () => expect([observed, listener.isDeaf]).toEqual([['listen_deaf'], true]));
    } finally {
      await listener.close();
    }
  });

  test('says so where the two addresses lead to different databases', async () => {
    const other = await createTestDatabase();
    const observed: string[] = [];
    const listener = listen({
      database: { client: () => other.database.client(), notify: (one) => database.notify(one) },
      subscriptions: [],
      observe: ({ kind }) => observed.push(kind),
    });
    try {
      await untilPasses('what it observed', () => expect(observed).toEqual(['listen_deaf']));
    } finally {
      await listener.close();
    }
  });

  test('tells how long an outage took, over all attempts to connect', async () => {
    const lost: number[] = [];
    const reconnected: number[] = [];
    let connects = 0;
    const listener = listen({
      database,
      subscriptions: [{ channel: 'accord_test', received: () => {}, missed: () => connects++ }],
      observe(observation) {
        if (observation.kind === 'database_lost') lost.push(performance.now());
        if (observation.kind === 'listen_reconnected') reconnected.push(observation.afterMs);
      },
    });
    const outage = outageOf(adminUrl);
    try {
      await untilPasses('connects to be 1', () => expect(connects).toBe(1));
      await outage.begin();
      await untilPasses('lost.length to be greater than or equal 4', () =>
        expect(lost.length).toBeGreaterThanOrEqual(4),
      );
      await outage.end();
      await untilPasses('connects to be 2', () => expect(connects).toBe(2));
      expect(reconnected).toHaveLength(1);
      expect(reconnected[0]).toBeGreaterThanOrEqual((lost.at(-1) as number) - (lost[0] as number));
    } finally {
      await listener.close();
    }
  });
});
