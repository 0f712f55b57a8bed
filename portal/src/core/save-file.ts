/** Saves what the page has as a file of the person. */
export const saveFile = (name: string, content: string, type = 'application/json'): void =>
  saveBlob(name, new Blob([content], { type }));

export function saveBlob(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
