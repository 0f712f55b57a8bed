/**
 * /dev/mail on the admin port: the local outbox of `accord start`, for the person at this machine. A mail's HTML is in a frame of its
 * own, from a route of its own: it neither runs scripts nor loads anything, and its inline styles are its own.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { escapeHtml } from './core/escape-html.ts';
import { limits } from './core/limits.ts';
import { listOutbox, readOutboxFile } from './mail/index.ts';

const PAGE = "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'";
const MAIL =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";
const style =
  'body{font-family:system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}td,th{text-align:left;padding:.3em .6em}pre{white-space:pre-wrap;background:#f4f4f4;padding:1em}iframe{width:100%;height:40em;border:1px solid #ccc}';

type Guard = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;

/** @param guard answers whoever may not read it */
export function registerDevMail(app: FastifyInstance, directory: string, guard: Guard): void {
  const page = (path: string, policy: string, content: (file: string) => Promise<string | undefined>) =>
    app.get<{ Params: { file?: string } }>(path, async (request, reply) => {
      const refused = guard(request, reply);
      if (refused !== undefined) return refused;
      const html = await content(request.params.file ?? '');
      if (html === undefined) return reply.status(404).send({ status: 'there is no such mail' });
      return reply
        .headers({ 'content-security-policy': policy, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
        .header('x-content-type-options', 'nosniff')
        .type('text/html; charset=utf-8')
        .send(html);
    });
  page('/dev/mail', PAGE, async () => {
    const mails = await listOutbox(directory, limits.pageItemsMax);
    const rows = mails.map(
      ({ file, at, tenant, to, subject }) =>
        `<tr><td>${at}</td><td>${text(tenant)}</td><td>${text(to)}</td><td><a href="/dev/mail/${file}">${text(subject)}</a></td></tr>`,
    );
    const head = '<tr><th>Time</th><th>Tenant</th><th>To</th><th>Subject</th></tr>';
    const list = rows.length === 0 ? '<p>No mail yet.</p>' : `<table>${head}${rows.join('\n')}</table>`;
    return document('Local outbox', `<p>Mail that this installation would have sent, the newest first.</p>${list}`);
  });
  page('/dev/mail/:file', PAGE, async (file) => {
    const mail = await readOutboxFile(directory, file);
    if (mail === undefined) return undefined;
    const { at, tenant, to, subject } = mail;
    const about = `<p><a href="/dev/mail">All mail</a></p><p>To ${text(to)}, of ${text(tenant)}, ${at}</p>`;
    const html =
      mail.html === ''
        ? ''
        : `<h2>HTML</h2><iframe sandbox="allow-popups allow-popups-to-escape-sandbox" src="/dev/mail/${file}/html" title="HTML"></iframe>`;
    return document(subject, `${about}<h2>Text</h2><pre>${linked(mail.text)}</pre>${html}`);
  });
  page('/dev/mail/:file/html', MAIL, async (file) =>
    (await readOutboxFile(directory, file))?.html.replace('<head>', '<head><base target="_blank">'),
  );
}

const text = escapeHtml;

/** The text of a mail, in which an address that stands alone on its line can be opened. */
function linked(of: string): string {
  return text(of).replaceAll(/^https?:\/\/[^\s<>]+$/gm, '<a href="$&" target="_blank" rel="noreferrer">$&</a>');
}

function document(title: string, content: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${text(title)}</title><style>${style}</style></head>
<body><h1>${text(title)}</h1>${content}</body></html>`;
}
