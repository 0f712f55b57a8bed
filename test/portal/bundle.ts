/** A built web application that is small: the document with its placeholders, and assets as they are compressed. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

const index = `<!doctype html><html lang="en"><head><meta name="csp-nonce" content="__ACCORD_NONCE__">
<meta name="accord-base" content="__ACCORD_BASE__"><title>Accord</title></head>
<body><div id="root"></div><script type="module" src="__ACCORD_BASE__/portal/assets/index-abc.js"></script></body></html>`;

const sharing = `<!doctype html><html lang="en"><head><meta name="csp-nonce" content="__ACCORD_NONCE__">
<meta name="accord-base" content="__ACCORD_BASE__"><meta name="accord-tenant" content="__ACCORD_TENANT__">
<meta name="accord-brand" content="__ACCORD_BRAND__"></head><body></body></html>`;

export const script = 'document.title = "Accord";\n';

/** @returns the directory */
export function makeBundle(directory = mkdtempSync(join(tmpdir(), 'accord-portal-'))): string {
  mkdirSync(join(directory, 'assets'), { recursive: true });
  writeFileSync(join(directory, 'assets/index-abc.js'), script);
  writeFileSync(join(directory, 'assets/index-abc.js.br'), brotliCompressSync(script));
  writeFileSync(join(directory, 'assets/plain-abc.css'), 'body{}');
  writeFileSync(join(directory, 'index.html'), index);
  writeFileSync(join(directory, 'sharing.html'), sharing);
  return directory;
}
