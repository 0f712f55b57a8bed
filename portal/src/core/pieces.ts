/** A long answer as it arrives. */
import { BrokenOff } from './problem.ts';

/** @throws BrokenOff where the connection ends before the answer does */
export async function* piecesOf({ body }: Response, signal: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error) => {
        throw signal.aborted ? error : new BrokenOff(error);
      });
      if (done) return;
      yield value;
    }
  } finally {
    // Who reads no further needs no more of it. What ended or failed has nothing to cancel.
    await reader.cancel().catch(() => {});
  }
}

/** @throws BrokenOff where the connection ends before the answer does */
export async function* linesOf(response: Response, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const piece of piecesOf(response, signal)) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
