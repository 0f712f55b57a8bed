/** What the tests of accounts share: a server with a clock, tenants, accounts, and the mails that were sent. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Account, signUp } from '../../server/accounts/index.ts';
import { type OutboxFile, startOutbox } from '../../server/mail/index.ts';
import { closeAtEnd } from '../helpers/closing.ts';
import { createTestServer, type TestServer } from '../helpers/server.ts';
import { WallClock } from '../invitations/inviting.ts';

export const password = 'correct horse battery';

type Mail = OutboxFile & { text: string; link: string };
export type AccountsServer = TestServer & {
  clock: WallClock;
  /** A tenant where everybody may sign up. */
  open(): Promise<string>;
  account(tenant: string, email: string, password?: string): Promise<Account>;
  /** All mails that were sent since the last call, oldest first. */
  mails(): Promise<Mail[]>;
};

/** Call at the top of a file. */
export async function createAccountsServer(): Promise<AccountsServer> {
  const clock = new WallClock();
  const server = await createTestServer({}, undefined, clock);
  const { services } = server;
  const directory = await mkdtemp(join(tmpdir(), 'accord-outbox-'));
  closeAtEnd(() => rm(directory, { recursive: true }));
  return {
    ...server,
    clock,
    open: () => server.tenant({ displayName: 'Carshare', login: { selfRegistration: 'open' } }),
    async account(tenant, email, chosen = password) {
      const made = await signUp(services.accounts, tenant, { email, password: chosen, invitedEmail: email });
      if (made.status !== 'created') throw new Error(`${email} was not signed up: ${made.status}`);
      return made.account;
    },
    async mails() {
      const files: OutboxFile[] = [];
      const stop = startOutbox(services, directory, (file) => files.push(file));
      await stop();
      return Promise.all(
        files.map(async (file) => {
          const text = await readFile(file.path, 'utf8');
          return { ...file, text, link: /^http\S+$/m.exec(text)?.[0] ?? '' };
        }),
      );
    },
  };
}

export const tokenOf = (link: string) => new URL(link).searchParams.get('token') ?? '';
