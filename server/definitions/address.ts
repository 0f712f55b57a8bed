/** Where the text of a consent document is served: an address that receipts name, and so never changes. */

export type DocumentName = { name: string; version: string; document: { version: string; language: string } };

export function documentUrl(baseUrl: string, tenant: string, { name, version, document }: DocumentName): string {
  const steps = [name, version, document.version, document.language].map(encodeURIComponent);
  return `${baseUrl}/${tenant}/consents/documents/${steps.join('/')}`;
}
