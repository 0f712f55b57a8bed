/** The Accord that the example runs on: started as `npm start` does it, or the one that is there. */
import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AccordResponseError, createClient } from '@accord/client';

const TENANT = 'carshare';
const SUBSCRIPTION = 'example-app';
const READY = 'Ctrl-C stops everything.';

export type Accord = {
  url: string;
  mailUrl: string | undefined;
  clientSecret: string;
  /** Resolves when an Accord that we started ends by itself. */
  ended: Promise<void>;
  hasEnded: () => boolean;
  stop: () => Promise<void>;
};

type Places = { listen?: string; 'admin-listen'?: string; manifests?: string; data?: string };

/** What `accord start` writes for its owner only. */
async function secretOf(data: string): Promise<string> {
  const file = join(data, 'secrets', TENANT, 'carshare-app.json');
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`${file} cannot be read: give the secret of the client carshare-app in ACCORD_CLIENT_SECRET`);
  });
  return (JSON.parse(text) as { client_secret: string }).client_secret;
}

/** The one at ACCORD_URL, which goes on when the example ends. */
export async function findAccord(data: string): Promise<Accord> {
  const { ACCORD_URL = '', ACCORD_CLIENT_SECRET, ACCORD_MAIL_URL } = process.env;
  const clientSecret = ACCORD_CLIENT_SECRET ?? (await secretOf(data));
  const never = new Promise<void>(() => {});
  const rest = { ended: never, hasEnded: () => false, stop: async () => {} };
  return { url: ACCORD_URL.replace(/\/+$/, ''), mailUrl: ACCORD_MAIL_URL, clientSecret, ...rest };
}

/** In a process group of its own: Ctrl-C in a terminal reaches the example, which ends this one last. */
export async function startAccord(root: string, places: Places): Promise<Accord> {
  const args = Object.entries(places).flatMap(([name, value]) => (name === 'port' ? [] : [`--${name}`, value]));
  const child = spawn(process.execPath, ['bin/accord.mjs', 'start', ...args], {
    ...{ cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  let said = '';
  let isReady = false;
  const ready = Promise.withResolvers<void>();
  child.stdout.on('data', (chunk: Buffer) => {
    // Later lines tell of mail, and of manifests that change.
    if (isReady) return void process.stdout.write(chunk);
    said += chunk;
    isReady = said.includes(READY);
    if (isReady) ready.resolve();
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  void ended.then(() => ready.reject(new Error(`Accord did not start.\n${said}`)));
  child.once('error', ready.reject);
  await ready.promise;
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  try {
    const place = (name: string) => new RegExp(`^\\s*${name}\\s+(\\S+)$`, 'm').exec(said)?.[1];
    const clientSecret = await secretOf(places.data ?? '.accord');
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
    return { url: place('APIs') ?? '', mailUrl: place('mail'), clientSecret, ended, hasEnded, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Subscribed = { secrets: string[]; problem?: string; end: () => Promise<void> };

/**
 * Has the tenant's events sent to the application, as long as it runs. A subscription is made by a security-admin of the tenant;
 * ACCORD_WEBHOOK_SECRET says that there is one already.
 */
export async function subscribe(
  root: string,
  accord: Accord,
  to: { data: string; endpoint: string },
): Promise<Subscribed> {
  const { ACCORD_WEBHOOK_SECRET } = process.env;
  const nothing = async () => {};
  if (ACCORD_WEBHOOK_SECRET !== undefined) return { secrets: [ACCORD_WEBHOOK_SECRET], end: nothing };
  try {
    const args = ['bin/accord.mjs', 'token', '--tenant', TENANT, '--role', 'security-admin', '--data', to.data];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
    const member = createClient({ baseUrl: accord.url, tenant: TENANT, token: stdout.trim() });
    const subscription = '/tenants/{tenant}/event-stream/subscriptions/{id}';
    const path = { id: SUBSCRIPTION };
    const end = async () => {
      await member.call('DELETE', subscription, { path }).catch((error: unknown) => {
        if (!(error instanceof AccordResponseError && error.status === 404)) throw error;
      });
    };
    // One that a process before this one left behind has a secret that nobody knows any more.
    await end();
    const eventTypes = ['RELATIONSHIP*', 'INVITATION_*', 'CONSENT_*', 'ENTITY_*', 'DECISION'];
    const { data } = await member.call('PUT', subscription, { path, body: { endpoint: to.endpoint, eventTypes } });
    return { secrets: [(data as { signingSecret: string }).signingSecret], end };
  } catch (error) {
    return { secrets: [], problem: (error as Error).message, end: nothing };
  }
}
