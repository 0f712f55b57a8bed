/**
 * `accord events`: prints a tenant's events as they come (follow), or sends them to an address as well (forward), for those who
 * develop a receiver. It reads the database; a back end reads GET C/event-stream/events.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { nextDelayMs } from '../server/core/backoff.ts';
import { problem } from '../server/core/problems.ts';
import {
  type CloudEvent,
  cloudEvent,
  followEvents,
  lastEvent,
  signedHeaders,
  typesNamed,
} from '../server/events/index.ts';
import type { Services } from '../server/services.ts';
import { readTenant } from '../server/tenants/index.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { withServices } from './with-services.ts';

const wrong = (why: string) => new UsageError(`accord events: ${why}\nusage: ${commands.events.usage}`);
const RETRY = { minMs: 1000, maxMs: 30_000 };
const TIMEOUT_MS = 10_000;

type Wanted = { tenant: string; after: number | undefined; types: string[] | undefined };
type Take = (event: CloudEvent, signal: AbortSignal) => Promise<void>;

export async function run({ values, positionals }: Parsed): Promise<number> {
  const take = takerOf(positionals, values.secret);
  const wanted = wantedOf(values);
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => stopping.abort());
  await withServices('events', values.data as string, (services) => follow(services, wanted, take, stopping.signal));
  return 0;
}

/** @throws UsageError */
function takerOf([action, url, ...rest]: readonly string[], secret: string | undefined): Take {
  if (action === 'follow' && url === undefined && secret === undefined) {
    return async (event) => console.log(JSON.stringify(event));
  }
  if (action !== 'forward' || url === undefined || rest.length > 0)
    throw wrong('say accord events follow, or accord events forward URL');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) throw wrong(`${url} is no http or https address`);
  const secrets = secret === undefined ? [] : [secret];
  try {
    signedHeaders({ id: '', seconds: 0, body: '' }, secrets);
  } catch (error) {
    throw wrong((error as Error).message);
  }
  return (event, signal) => forward(url, secrets, event, signal);
}

/** @throws UsageError */
function wantedOf({ tenant, after, types }: Parsed['values']): Wanted {
  if (tenant === undefined) throw wrong('--tenant is missing');
  if (after !== undefined && !/^\d{1,15}$/.test(after)) throw wrong('--after is the number of an event');
  return { tenant, after: after === undefined ? undefined : Number(after), types: types?.split(',') };
}

async function follow(
  { database, events }: Services,
  { tenant, after, types }: Wanted,
  take: Take,
  signal: AbortSignal,
) {
  const row = await database.tenantSnapshot(tenant, (tx) => readTenant(tx, tenant));
  if (row === undefined) throw problem('tenant_not_found');
  const known = types && typesNamed(types, [...events.types.keys()], '/types');
  let from = after ?? (await lastEvent(events, tenant));
  while (!signal.aborted) {
    const asked = { tenant, after: from, types: known, limit: 100 };
    for await (const page of followEvents(events, asked, signal)) {
      for (const event of page.events) {
        await take(cloudEvent(`${events.baseUrl}/${tenant}`, event), signal);
        if (signal.aborted) return;
      }
      from = page.after;
    }
  }
}

/** Sends one event until it is taken: those behind it wait, so that their order is kept. */
async function forward(url: string, secrets: readonly string[], event: CloudEvent, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify(event);
  for (let delayMs = 0; !signal.aborted; ) {
    const seconds = Math.floor(Date.now() / 1000);
    const headers = {
      'content-type': 'application/cloudevents+json',
      ...signedHeaders({ id: event.id, seconds, body }, secrets),
    };
    const answer = await fetch(url, {
      ...{ method: 'POST', headers, body, redirect: 'manual' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    }).then(
      async (response) => {
        await response.body?.cancel();
        return { ok: response.ok, text: String(response.status) };
      },
      (error: Error) => ({ ok: false, text: (error.cause as Error | undefined)?.message ?? error.message }),
    );
    if (signal.aborted) return;
    if (answer.ok) return console.log(`${answer.text} ${Number(event.sequence)} ${event.type} ${event.subject}`);
    delayMs = nextDelayMs(delayMs, RETRY);
    console.error(
      `accord: ${url} did not take event ${Number(event.sequence)}: ${answer.text}; again in ${Math.ceil(delayMs / 1000)} s`,
    );
    await sleep(delayMs, undefined, { signal }).catch(() => {});
  }
}
