/** The consent to trip data: the text that is in force, whether the user agreed, agreeing and withdrawing. */
import { createHash } from 'node:crypto';
import type { AccordClient } from '@accord/client';

export const CONSENT = 'trip-data';
const LANGUAGE = 'en';

export type Shown = {
  version: string;
  document: { version: string; language: string };
  agreed: boolean;
  /** HTML that Accord sanitized when the document was stored. */
  text: string;
};

export async function readConsent(user: AccordClient): Promise<Shown> {
  const query = { name: CONSENT, language: LANGUAGE };
  const { data } = await user.call('GET', '/{tenant}/consents/active', { query });
  const { version, document, status, content } = data;
  if (content?.mediaType !== 'text/html') throw new Error(`The document of ${CONSENT} has no text in HTML`);
  return { version, document, agreed: status === 'given' || status === 'valid', text: await textOf(content) };
}

/** Receipts and the ledger name the digest of the text: no other one is shown. */
async function textOf({ url, digest }: { url: string; digest?: string }): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`The text at ${url} was answered ${response.status}`);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (`sha256:${createHash('sha256').update(bytes).digest('hex')}` !== digest)
    throw new Error(`The text at ${url} has another digest than its document`);
  return bytes.toString('utf8');
}

/** @param shown what the user saw: a newer document that came meanwhile is not agreed to */
export async function agree(user: AccordClient, shown: { version: string; document: string }): Promise<void> {
  const document = { version: shown.document, language: LANGUAGE };
  await user.call('POST', '/{tenant}/consents', { body: { name: CONSENT, version: shown.version, document } });
}

export async function withdraw(user: AccordClient): Promise<void> {
  const { data } = await user.call('GET', '/{tenant}/consents/me');
  for (const { id } of data.consents.filter(({ name }) => name === CONSENT))
    await user.call('DELETE', '/{tenant}/consents/{id}', { path: { id } });
}
