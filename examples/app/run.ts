/**
 * `npm run example`: starts Accord on the examples (or uses the one at ACCORD_URL) and the application, and says where both are.
 * Ctrl-C ends what it started.
 */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Accord } from './accord.ts';

const root = join(import.meta.dirname, '../..');
const usage = `usage: npm run example -- [--port 5180] [--listen HOST:PORT] [--admin-listen HOST:PORT] [--manifests DIR] [--data DIR]
With ACCORD_URL it uses the Accord that is there: its secrets come from --data, or from ACCORD_CLIENT_SECRET and ACCORD_WEBHOOK_SECRET.`;

const text = { type: 'string' } as const;
const options = { port: text, listen: text, 'admin-listen': text, manifests: text, data: text } as const;

function argumentsOf(args: string[]) {
  try {
    const { values } = parseArgs({ args, options });
    if (values.port !== undefined && !/^\d{1,5}$/.test(values.port)) throw new Error('--port takes a number');
    return values;
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    return process.exit(2);
  }
}

/** As `npm install` would do with the published package: the application imports it by its name. */
function linkClient(): void {
  const link = join(root, 'node_modules/@accord/client');
  if (existsSync(link)) return;
  mkdirSync(join(link, '..'), { recursive: true });
  symlinkSync('../../packages/client', link, 'junction');
}

/** Resolves when the person ends it, or a supervisor does. */
const stopped = new Promise<void>((done) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => done());
});

async function run(): Promise<number> {
  const values = argumentsOf(process.argv.slice(2));
  const { port = '5180', data = '.accord' } = values;
  linkClient();
  const { findAccord, startAccord, subscribe } = await import('./accord.ts');
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const accord = process.env.ACCORD_URL === undefined ? await startAccord(root, values) : await findAccord(data);
    undo.push(accord.stop);
    const url = `http://localhost:${port}`;
    const events = await subscribe(root, accord, { data, endpoint: `${url}/webhooks/accord` });
    undo.push(events.end);
    const { createApp } = await import('./server.ts');
    const app = await createApp({
      ...{ accordUrl: accord.url, tenant: 'carshare', audience: 'https://carshare.example', url },
      ...{ clientId: 'carshare-app', clientSecret: accord.clientSecret, mailUrl: accord.mailUrl },
      webhookSecrets: events.secrets,
    });
    undo.push(() => app.close());
    await app.listen({ host: 'localhost', port: Number(port) });
    console.log(welcome(url, accord, events.problem));
    await Promise.race([stopped, accord.ended]);
    return accord.hasEnded() ? 1 : 0;
  } finally {
    for (const step of undo.reverse()) await step().catch((error: Error) => console.error(error.message));
  }
}

const welcome = (url: string, accord: Accord, problem: string | undefined) => `
  application  ${url}
  Accord       ${accord.url} (portal: ${accord.url}/portal)
${accord.mailUrl === undefined ? '' : `  mail         ${accord.mailUrl}\n`}
Open the application, choose "Log in or create an account", then "Create an account". The mail with the link is ${
  accord.mailUrl === undefined ? 'where Accord sends it' : `at ${accord.mailUrl}`
}.
Then add a car, share it with a second address, and open the link of that mail in a private window.
${problem === undefined ? '' : `The page of events stays empty: ${problem}\n`}Ctrl-C ends ${accord.mailUrl === undefined ? 'the application' : 'both'}.`;

process.exit(
  await run().catch((error: Error) => {
    console.error(`example: ${error.message}`);
    return 1;
  }),
);
