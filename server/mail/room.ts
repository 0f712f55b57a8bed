import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { defineRoom } from '../room/room.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { writesRoom } from '../writes/index.ts';
import { erasingMail } from './erasing.ts';
import { mailEvents } from './events.ts';
import { sweepMail } from './outbox.ts';
import { mailProblem } from './problems.ts';
import { resourceKinds } from './resource-kind.ts';
import { registerMailRoutes } from './routes.ts';
import { MailSender } from './sender.ts';
import { MailTransport } from './transport.ts';

/** Between looks at what is due, where nothing was. */
const POLL_MS = 500;

export const mailRoom = defineRoom({
  name: 'mail',
  tables: ['mail_message', 'mail_suppression', 'mail_settings', 'mail_template'],
  create({ config, database, encrypter, clock, observe, baseUrl, server }, use) {
    const writes = use(writesRoom);
    const base = { ...writes, database, encrypter, clock, observe, config, baseUrl };
    const transport = new MailTransport(config, baseUrl);
    const sender = new MailSender({ ...base, server, writes, transport });
    return { ...base, sender, waitForRevision: use(snapshotRoom).waitForRevision };
  },
  routes: registerMailRoutes,
  openapiTag: 'Mail',
  erasing: ({ encrypter }) => erasingMail(encrypter),
  tasks: ({ database, clock, sender }) => [
    {
      name: 'sending mail',
      everyMs: POLL_MS,
      async run() {
        return (await sender.run()) ? 0 : undefined;
      },
    },
    {
      name: 'mail sweep',
      everyMs: 60_000,
      firstMs: 60_000,
      async run() {
        const more = await sender.expire();
        const removed = await sweepMail(database, utc(clock.now()));
        return more || removed === limits.erasePageItemsMax ? 0 : undefined;
      },
    },
  ],
  events: mailEvents,
  resourceKinds,
  problems: mailProblem,
  close: ({ sender }) => sender.close(),
});
