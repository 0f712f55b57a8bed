import { utc } from '../core/instants.ts';
import { limits } from '../core/limits.ts';
import type { ConfigServing } from '../http/config-api.ts';
import { defineRoom } from '../room/room.ts';
import { snapshotRoom } from '../snapshot/index.ts';
import { writesRoom } from '../writes/index.ts';
import { erasingAccounts } from './erasing.ts';
import { Passwords } from './passwords.ts';
import { accountProblem } from './problems.ts';
import { registerAccountRoutes } from './routes.ts';
import type { AccountListener, AccountServices } from './services.ts';
import { sweepAccounts } from './sweep.ts';
import { readWeakList } from './weak.ts';

type RoomServices = AccountServices &
  ConfigServing & {
    /** Later rooms are called in their order when an account changes. */
    onAccountChanged(listener: AccountListener): void;
  };

export const accountsRoom = defineRoom({
  name: 'accounts',
  tables: ['account_challenge', 'account_credential', 'account_identity', 'account_token', 'login_attempt', 'account'],
  create({ encrypter, baseUrl, observe, passwordCost }, use): RoomServices {
    const listeners: AccountListener[] = [];
    return {
      ...{
        ...use(writesRoom),
        encrypter,
        observe,
        baseUrl,
        listeners,
        waitForRevision: use(snapshotRoom).waitForRevision,
      },
      ...{ passwords: new Passwords({ cost: passwordCost }), weak: readWeakList() },
      onAccountChanged: (listener) => listeners.push(listener),
    };
  },
  routes: registerAccountRoutes,
  openapiTag: 'Accounts',
  erasing: ({ encrypter }) => erasingAccounts(encrypter),
  tasks: ({ database, clock }) => [
    {
      name: 'account sweep',
      everyMs: 300_000,
      firstMs: 90_000,
      run: async () => {
        const removed = await sweepAccounts(database, {
          now: utc(clock.now()),
          forget: utc(clock.now() - limits.loginForgetMs),
        });
        return removed >= limits.erasePageItemsMax ? 0 : undefined;
      },
    },
  ],
  problems: accountProblem,
  close: ({ passwords }) => passwords.close(),
});
