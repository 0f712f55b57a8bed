/**
 * A terminal shows the links to the portal of a tenant's first members, at each start until they are used; other output only says
 * in which file they are.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InvitationFiles } from '../operator/index.ts';
import { readMemberInvitation } from '../server/members/index.ts';
import type { Services } from '../server/services.ts';
import { placeOfFile } from './place.ts';

type Link = { email: string; role: string; url: string };
type Person = { tenant: string; email: string };

const place = (url: string, path: string) => (process.stdout.isTTY ? url : `see ${placeOfFile(path)}`);

function lineOf(tenant: string, { email, role, url }: Link, path: string): string {
  return `${email}, ${role} of ${tenant}: ${place(url, path)}`;
}

/** What comes before `isReporting` says so is kept for `lines`. */
export function tellInvitations(isReporting: () => boolean) {
  const waiting: (Person & { line: string })[] = [];
  const told = new Set<string>();
  const written: NonNullable<InvitationFiles['written']> = (tenant, link, path) => {
    told.add(link.url);
    const line = lineOf(tenant, link, path);
    if (isReporting()) console.log(`First log-in at the portal; the link works once: ${line}`);
    else waiting.push({ tenant, email: link.email, line });
  };
  return {
    written,
    /** Also of the links of earlier starts that still work. @param except who gets in by another link, which was told before */
    async lines(services: Services, directory: string | undefined, except?: Person): Promise<string[]> {
      const earlier = directory === undefined ? [] : await earlierLines(services, directory, told);
      const lines = [...waiting.splice(0), ...earlier]
        .filter(({ tenant, email }) => tenant !== except?.tenant || email !== except.email)
        .map(({ line }) => `  ${line}`);
      if (lines.length === 0) return [];
      const whose = except === undefined ? 'First log-ins' : 'First log-ins of others';
      return [`${whose} at the portal; each link works once:`, '', ...lines, ''];
    },
  };
}

async function earlierLines(services: Services, directory: string, told: ReadonlySet<string>) {
  const lines: (Person & { line: string })[] = [];
  const files = await readdir(directory).catch(() => []);
  for (const file of files.filter((name) => name.endsWith('.json')).sort()) {
    const path = join(directory, file);
    for (const link of await linksOf(path)) {
      if (told.has(link.url)) continue;
      const { hash } = new URL(link.url);
      const open = await readMemberInvitation(services.members, hash.slice(1)).catch(() => undefined);
      // The address may be another since then; the code is not.
      const url = `${services.baseUrl}/portal/invitations${hash}`;
      if (open === undefined) continue;
      lines.push({ tenant: open.tenant, email: link.email, line: lineOf(open.tenant, { ...link, url }, path) });
    }
  }
  return lines;
}

/** None of a file that somebody changed by hand: it is only shown. */
async function linksOf(path: string): Promise<Link[]> {
  try {
    const links = JSON.parse(await readFile(path, 'utf8')) as Link[];
    return links.filter(({ url }) => URL.canParse(url));
  } catch {
    return [];
  }
}
