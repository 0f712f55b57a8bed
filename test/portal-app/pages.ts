/** Every page of the portal, as its screens say them. */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const portal = join(import.meta.dirname, '../../portal/src/screens');

/** @param values of the variable parts, such as `policies/$name`; a page of which none is given fails */
export function pagesOf(values: Record<string, readonly string[]>): string[] {
  return globSync('*/index.tsx', { cwd: portal })
    .sort()
    .flatMap((file) => {
      const screen = basename(dirname(file));
      const paths = [...readFileSync(join(portal, file), 'utf8').matchAll(/path: '([^']+)'/g)].map(([, path]) => path);
      return paths.flatMap((path) => {
        const page = `${screen}${path === '/' ? '' : path}`;
        if (!page.includes('$')) return [page];
        const filled = values[page];
        if (filled === undefined) throw new Error(`Nothing says which ${page} is to be opened.`);
        return filled;
      });
    });
}

/** The page of the guide that each page of the portal links. */
export function guides(): { page: string; guide: string | undefined }[] {
  return globSync('*/index.tsx', { cwd: portal }).flatMap((file) => {
    const routes = readFileSync(join(portal, file), 'utf8').matchAll(/path: '([^']+)'(?:,\s+guide:\s+'([^']+)')?/g);
    return [...routes].map(([, path, guide]) => ({ page: `${dirname(file)}${path}`, guide }));
  });
}
