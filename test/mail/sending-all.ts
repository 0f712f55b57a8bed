/** Sends what is due, as a server does in the background. */
import { utc } from '../../server/core/instants.ts';
import { tenantsDue } from '../../server/mail/store.ts';
import type { TestServer } from '../helpers/server.ts';
import { until } from '../helpers/wait.ts';

type Sending = Pick<TestServer, 'services'>;

/** Sends while the work goes on. */
export async function sendWhile<T>({ services }: Sending, work: () => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const running = services.mail.sender.run(stop.signal);
  try {
    return await work();
  } finally {
    stop.abort();
    await running;
  }
}

/** Until nothing is due. */
export function sendAll(server: Sending): Promise<void> {
  const { database, clock } = server.services.mail;
  return sendWhile(server, async () => {
    const due = () => database.system((tx) => tenantsDue(tx, utc(clock.now())));
    await until('all mails that are due', async () => (await due()).length === 0);
  });
}
