/** A terminal shows the link of a tenant's first invitation, once; other output only says in which file it is. */
import { relative } from 'node:path';
import type { InvitationFiles } from '../operator/index.ts';

/** What comes before `isReporting` says so is kept for `lines`. */
export function tellInvitations(isReporting: () => boolean) {
  const waiting: string[] = [];
  const written: NonNullable<InvitationFiles['written']> = (tenant, { email, role, url }, path) => {
    const at = process.stdout.isTTY ? url : `see ${relative(process.cwd(), path)}`;
    const line = `Single-use link for ${email}, ${role} of ${tenant}: ${at}`;
    if (isReporting()) console.log(line);
    else waiting.push(line);
  };
  return { written, lines: () => waiting.splice(0) };
}
