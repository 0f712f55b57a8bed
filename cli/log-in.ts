/**
 * `accord log-in`: prints a link that logs a tenant's first security-admin in at the portal of a running `accord start`, as the start
 * itself does. It works once, for 15 minutes, and is for this machine only.
 */
import { resolve } from 'node:path';
import { readConfig } from '../server/core/config.ts';
import { limits } from '../server/core/limits.ts';
import { createLogInLink, type LogInLink } from '../server/portal/index.ts';
import type { Services } from '../server/services.ts';
import { commands, type Parsed, UsageError } from './arguments.ts';
import { attachLocal } from './local.ts';
import { withServices } from './with-services.ts';

const wrong = (why: string) => new UsageError(`accord log-in: ${why}\nusage: ${commands['log-in'].usage}`);

export async function run({ values }: Parsed): Promise<number> {
  const { tenant, data = '.accord' } = values;
  if (readConfig().ACCORD_DATABASE_URL !== undefined)
    throw wrong('it is for accord start only, and ACCORD_DATABASE_URL names another installation');
  const local = await attachLocal(data);
  if (local !== undefined && local.logInLinks !== true)
    throw wrong(`the accord start of ${resolve(data)} can be reached from other machines, and takes no such links`);
  const link = await withServices('log-in', data, ({ portal }) => createLogInLink(portal, tenant));
  if (link === undefined)
    throw wrong(`${tenant ?? 'no tenant'} has ${tenant ? 'no' : 'a'} security-admin, and its manifest invites none`);
  console.log(link.url);
  return 0;
}

const minutes = limits.portalLogInLinkMs / 60_000;
const asWhom = ({ email, tenant }: LogInLink) => `${email}, security-admin of ${tenant}`;

/** What prints a link of the instance of this directory. */
export const logInCommandOf = (directory: string) =>
  `npx accord log-in${directory === '.accord' ? '' : ` --data ${directory}`}`;

/**
 * What a start tells its user in the end: a terminal gets the link; other output, which may be kept, the command that prints one.
 * @param directory the data directory as it was given
 * @returns undefined where nobody can log in by a link
 */
export async function firstLogIn(
  { portal }: Pick<Services, 'portal'>,
  directory: string,
  isTerminal: boolean,
): Promise<{ of: LogInLink; lines: string[] } | undefined> {
  const link = await createLogInLink(portal);
  if (link === undefined) return undefined;
  const command = logInCommandOf(directory);
  const lines = isTerminal
    ? [
        `Log in at the portal as ${asWhom(link)} (once, within ${minutes} minutes; then ${command} prints another link):`,
        '',
        `  ${link.url}`,
      ]
    : [`This prints a link that logs you in at the portal as ${asWhom(link)}:`, '', `  ${command}`];
  return { of: link, lines: ['', ...lines, ''] };
}
