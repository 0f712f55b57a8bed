/** The text of a message as RFC 5322 and MIME have it, pure: readable as it stands, and by every mail program. */

type Mail = { id: string; at: string; to: string; tenant: string; subject: string; text: string; html: string };

export function mimeOf({ id, at, to, tenant, subject, text, html }: Mail): string {
  const boundary = `part-${id}`;
  const part = (type: string, content: string) =>
    [`--${boundary}`, `Content-Type: ${type}; charset=utf-8`, 'Content-Transfer-Encoding: 8bit', '', content, ''].join(
      '\r\n',
    );
  return [
    `Message-ID: <${id}@accord.invalid>`,
    `Date: ${new Date(at).toUTCString().replace('GMT', '+0000')}`,
    `From: ${tenant}@accord.invalid`,
    `To: ${oneLine(to)}`,
    `Subject: ${encodedWord(oneLine(subject))}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative;\r\n boundary="${boundary}"`,
    '',
    part('text/plain', text) + part('text/html', html),
  ]
    .join('\r\n')
    .concat(`--${boundary}--\r\n`);
}

export type ReadMail = Omit<Mail, 'id'>;

/** What mimeOf wrote, and nothing else. */
export function readMime(mime: string): ReadMail {
  const end = mime.indexOf('\r\n\r\n');
  const head = mime.slice(0, end).replaceAll(/\r\n[ \t]+/g, ' ');
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1]?.trim() ?? '';
  const boundary = /boundary="([^"]+)"/.exec(head)?.[1] ?? '';
  const [, text = '', html = ''] = mime.slice(end).split(`--${boundary}`);
  const content = (part: string) => part.slice(part.indexOf('\r\n\r\n') + 4).replace(/\r\n$/, '');
  return {
    ...{
      at: new Date(field('Date')).toISOString(),
      to: field('To'),
      tenant: field('From').replace(/@accord\.invalid$/, ''),
    },
    ...{ subject: decodedWords(field('Subject')), text: content(text), html: content(html) },
  };
}

/** What encodedWord wrote. */
function decodedWords(value: string): string {
  const isEncoded = /^=\?utf-8\?B\?/.test(value);
  return isEncoded
    ? value.replaceAll(/=\?utf-8\?B\?([^?]*)\?=\s?/g, (_all, word) => Buffer.from(word, 'base64').toString())
    : value;
}

/** A header ends where its line ends: what a name or an address brings must not begin another one. */
function oneLine(value: string): string {
  return value.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** With `Subject: ` before it, a word has at most the 76 characters of a line. */
const WORD_BYTES_MAX = 39;

/** RFC 2047, where it is more than ASCII; in words of at most 75 characters. */
function encodedWord(value: string): string {
  if (/^[\x20-\x7e]*$/.test(value)) return value;
  const words: string[] = [];
  const bytes: number[] = [];
  const end = () => words.push(`=?utf-8?B?${Buffer.from(bytes.splice(0)).toString('base64')}?=`);
  for (const character of value) {
    const next = [...Buffer.from(character)];
    if (bytes.length + next.length > WORD_BYTES_MAX) end();
    bytes.push(...next);
  }
  if (bytes.length > 0) end();
  return words.join('\r\n ');
}
