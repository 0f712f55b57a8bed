/** Saves an answer as a file. A link would not do: a request of the portal needs its header. */
import { send } from './api.ts';
import { piecesOf } from './pieces.ts';
import { saveBlob } from './save-file.ts';

const heldMax = 8 * 1024 * 1024;

/**
 * Nothing is saved of an answer that does not arrive whole.
 * @param onItems told how many lines of NDJSON or rows of CSV have arrived
 * @throws ApiProblem, NoAnswer, BrokenOff
 */
export async function download(
  path: string,
  name: string,
  signal: AbortSignal,
  onItems: (count: number) => void,
): Promise<void> {
  const response = await send('GET', path, { signal });
  const type = response.headers.get('content-type') ?? '';
  const count = counting(type.startsWith('text/csv'));
  let whole = new Blob([]);
  let held: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  // A browser keeps a large blob on its disk, and what a script holds in memory.
  const put = () => {
    whole = new Blob([whole, ...held], { type });
    held = [];
    bytes = 0;
  };
  for await (const piece of piecesOf(response, signal)) {
    held.push(piece);
    bytes += piece.length;
    if (bytes > heldMax) put();
    onItems(count(piece));
  }
  put();
  saveBlob(name, whole);
}

const [newLine, quote] = [10, 34];

/** @returns how many there are up to the end of a piece. A text of CSV may have lines in it, and the first row is its head. */
function counting(isCsv: boolean): (piece: Uint8Array) => number {
  let lines = 0;
  let isQuoted = false;
  return (piece) => {
    for (const byte of piece) {
      if (byte === quote && isCsv) isQuoted = !isQuoted;
      else if (byte === newLine && !isQuoted) lines++;
    }
    return isCsv ? Math.max(0, lines - 1) : lines;
  };
}
