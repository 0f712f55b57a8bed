/** A terminal shows the link to the portal of a tenant's first members, once; other output only says in which file it is. */
import type { InvitationFiles } from '../operator/index.ts';
import { placeOfFile } from './place.ts';

/** What comes before `isReporting` says so is kept for `lines`. */
export function tellInvitations(isReporting: () => boolean) {
  const waiting: string[] = [];
  const written: NonNullable<InvitationFiles['written']> = (tenant, { email, role, url }, path) => {
    const at = process.stdout.isTTY ? url : `see ${placeOfFile(path)}`;
    const line = `First log-in at the portal for ${email}, ${role} of ${tenant}; the link works once: ${at}`;
    if (isReporting()) console.log(line);
    else waiting.push(line);
  };
  return { written, lines: () => waiting.splice(0) };
}
