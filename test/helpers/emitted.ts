/** The events that were committed, numbered or not. */
import { asAdmin } from './admin.ts';
import type { TestServer } from './server.ts';
import { until } from './wait.ts';

export type Emitted = { type: string; tenant: string; time: number; key: string; data: Record<string, unknown> };

/** Those of all tenants; each is taken once. */
export class EmittedEvents {
  readonly #adminUrl: string;
  readonly #taken = new Set<string>();

  constructor({ adminUrl }: { adminUrl: string }) {
    this.#adminUrl = adminUrl;
  }

  /** In the order of their numbers; those that have none yet behind the others. */
  async take(): Promise<Emitted[]> {
    const rows = await asAdmin<Emitted & { id: string }>(
      this.#adminUrl,
      `select id, type, tenant, time, key, data from (
          select id, type, tenant, extract(epoch from time) * 1000 as time, key, body as data, 0 as place, sequence as n from accord.event
          union all select id, type, tenant, extract(epoch from time) * 1000, key, body, 1, n from accord.event_inbox) as e
        order by place, n`,
    );
    const fresh = rows.filter(({ id }) => !this.#taken.has(id));
    for (const { id } of fresh) this.#taken.add(id);
    return fresh.map(({ id: _, time, ...event }) => ({ ...event, time: Number(time) }));
  }
}

/** Resolves when all events that are committed have a number. */
export async function numbered({ services, db }: Pick<TestServer, 'services' | 'db'>): Promise<void> {
  await until('events to be numbered', async () => {
    await services.events.mover.move();
    const [row] = await asAdmin<{ n: number }>(db.adminUrl, 'select count(*)::int as n from accord.event_inbox');
    return row?.n === 0;
  });
}
