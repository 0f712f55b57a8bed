/**
 * The look of the built-in mails. Mail programs know little of CSS: tables, and styles on the elements themselves. The button is a
 * cell with a colour, because Outlook gives links no padding. Pure.
 */
import { escapeHtml } from '../core/escape-html.ts';

type Page = {
  language: string;
  application: string;
  subject: string;
  before: readonly string[];
  actionUrl: string;
  button: string;
  after: readonly string[];
  foot: string;
};

const font = 'font-family:Arial,Helvetica,sans-serif';
const table = (style: string, content: string, more = '') =>
  `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="${style}"${more}>${content}</table>`;

export function layout(page: Page): string {
  const text = escapeHtml;
  const paragraph = (one: string) =>
    `<p style="${font};font-size:16px;line-height:24px;color:#1f2933;margin:0 0 16px 0">${text(one)}</p>`;
  const url = text(page.actionUrl);
  const button = `<tr><td align="center" bgcolor="#1d4ed8" style="background-color:#1d4ed8;border-radius:6px"><a href="${url}" style="${font};font-size:16px;font-weight:bold;line-height:20px;color:#ffffff;text-decoration:none;display:inline-block;padding:12px 24px">${text(page.button)}</a></td></tr>`;
  const card = [
    `<tr><td style="padding:24px 32px 0 32px"><p style="${font};font-size:14px;font-weight:bold;color:#52606d;margin:0 0 8px 0">${text(page.application)}</p><h1 style="${font};font-size:22px;line-height:28px;color:#1f2933;margin:0 0 16px 0">${text(page.subject)}</h1></td></tr>`,
    `<tr><td style="padding:0 32px 8px 32px">${page.before.map(paragraph).join('\n')}</td></tr>`,
    `<tr><td style="padding:0 32px 24px 32px">${table('border-collapse:separate', button)}</td></tr>`,
    `<tr><td style="padding:0 32px 16px 32px"><p style="${font};font-size:13px;line-height:20px;color:#52606d;margin:0;word-break:break-all"><a href="${url}" style="color:#1d4ed8">${url}</a></p></td></tr>`,
    `<tr><td style="padding:0 32px 16px 32px">${page.after.map(paragraph).join('\n')}</td></tr>`,
    `<tr><td style="padding:16px 32px 24px 32px;border-top:1px solid #e4e7eb"><p style="${font};font-size:12px;line-height:18px;color:#616e7c;margin:0">${text(page.foot)}</p></td></tr>`,
  ].join('\n');
  const inner = table('max-width:600px;width:100%;background-color:#ffffff;border-radius:8px', card, ' width="600"');
  return `<!doctype html>
<html lang="${page.language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${text(page.subject)}</title></head>
<body style="margin:0;padding:0;background-color:#f0f2f5">
${table('width:100%;background-color:#f0f2f5', `<tr><td align="center" style="padding:24px 12px">${inner}</td></tr>`, ' width="100%" bgcolor="#f0f2f5"')}
</body></html>`;
}
