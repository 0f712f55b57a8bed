/**
 * Serves this folder at http://localhost:5173 for trying it. Any static server does the same; the header that it adds forbids
 * other sites to show the page in a frame. PORT and ACCORD_ISSUER choose another port and another tenant.
 */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';

const { PORT = '5173', ACCORD_ISSUER } = process.env;
const files = new Map([
  ['/', ['index.html', 'text/html']],
  ['/app.js', ['app.js', 'text/javascript']],
  ['/style.css', ['style.css', 'text/css']],
  ['/icon.svg', ['icon.svg', 'image/svg+xml']],
]);

/** The page, for another tenant or another Accord. */
function forIssuer(page) {
  if (ACCORD_ISSUER === undefined) return page;
  return page
    .replace('http://127.0.0.1:8080/carshare/oidc', ACCORD_ISSUER)
    .replace('connect-src http://127.0.0.1:8080', `connect-src ${new URL(ACCORD_ISSUER).origin}`);
}

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url, 'http://localhost');
  const found = files.get(pathname);
  if (!['GET', 'HEAD'].includes(request.method) || found === undefined) {
    response.writeHead(404).end();
    return;
  }
  const [name, type] = found;
  const text = await readFile(join(import.meta.dirname, name), 'utf8');
  response.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': "frame-ancestors 'none'",
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : forIssuer(text));
});
server.listen(Number(PORT), 'localhost', () => console.log(`listening on http://localhost:${server.address().port}/`));
