import { countOfManifests } from '../core/db/owned.ts';
import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import { defineRoom } from '../room/room.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { writesRoom } from '../writes/index.ts';
import { mailCheck } from './doctor.ts';
import { erasingMail } from './erasing.ts';
import { mailEvents } from './events.ts';
import { type Outbox, sweepMail } from './outbox.ts';
import { mailProblem } from './problems.ts';
import { resourceKinds } from './resource-kind.ts';
import { registerMailRoutes } from './routes.ts';
import { MailSender } from './sender.ts';
import { MailTransport } from './transport.ts';

export const mailRoom = defineRoom({
  name: 'mail',
  tables: ['mail_message', 'mail_lane', 'mail_suppression', 'mail_settings', 'mail_template'],
  create({ config, database, encrypter, clock, observe, baseUrl, server, outbound }, use) {
    const writes = use(writesRoom);
    const base = { ...writes, database, encrypter, clock, observe, config, baseUrl };
    const transport = new MailTransport(config, baseUrl, outbound);
    const sender = new MailSender({ ...base, server, writes, transport });
    const outbox: Outbox = { directory: undefined };
    return { ...base, sender, transport, outbox, waitForRevision: use(snapshotRoom).waitForRevision };
  },
  routes: registerMailRoutes,
  openapiTag: 'Mail',
  tenantRows: { countOfManifests: (tx, tenant) => countOfManifests(tx, tenant, 'mail_template') },
  erasing: ({ encrypter }) => erasingMail(encrypter),
  doctor: (services) => [mailCheck(services)],
  tasks: ({ database, clock, sender }) => [
    {
      name: 'sending mail',
      everyMs: limits.lanePollMs,
      async run(signal) {
        await sender.run(signal);
        return undefined;
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
