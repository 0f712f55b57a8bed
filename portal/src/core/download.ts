/** Saves an answer as a file. A link would not do: a request of the portal needs its header. */
import { arriving, send } from './api.ts';

/** @throws ApiProblem, NoAnswer */
export async function download(path: string, name: string, signal?: AbortSignal): Promise<void> {
  const response = await send('GET', path, signal === undefined ? {} : { signal });
  const url = URL.createObjectURL(await arriving(response.blob(), signal));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
