/** What a receipt of a consent says, for people; it is not verified here. */
export function receiptText(receipt: string): string {
  const bytes = atob((receipt.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'));
  const text = new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)));
  return JSON.stringify(JSON.parse(text), undefined, 2);
}
