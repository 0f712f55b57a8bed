/** The scripts that VitePress writes into each page become files, so that the policy of the server need not allow any. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BASE = '/docs/guide/';

export function withoutInlineScripts(code, _id, { siteConfig }) {
  return code.replace(/<script( id="[\w-]+")?>([\s\S]+?)<\/script>/g, (_all, id = '', script) => {
    const name = `assets/inline.${createHash('sha256').update(script).digest('hex').slice(0, 8)}.js`;
    mkdirSync(join(siteConfig.outDir, 'assets'), { recursive: true });
    writeFileSync(join(siteConfig.outDir, name), script);
    return `<script${id} src="${BASE}${name}"></script>`;
  });
}
