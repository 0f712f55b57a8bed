/** Cutting a stream of bytes into numbered lines, in constant memory: a line that is too long is reported, not kept. */
import { limits } from '../core/limits.ts';
import { bodyTooLarge } from '../core/problems.ts';

/** `fault`: why the line cannot be read. */
export type NumberedLine = { number: number; text: string; fault?: string };

const NEWLINE = 0x0a;
const TOO_LONG = `The line is longer than ${limits.importLineBytesMax} bytes.`;

/** The lines that are not empty, those of a chunk together; the last one may lack its newline. @param first the number of the first line */
export async function* readLines(body: AsyncIterable<Buffer>, first: number): AsyncGenerator<NumberedLine[]> {
  let number = first;
  let chunks: Buffer[] = [];
  let bytes = 0;
  const end = (): NumberedLine | undefined => {
    const line =
      bytes > limits.importLineBytesMax ? { number, text: '', fault: TOO_LONG } : decode(number, Buffer.concat(chunks));
    chunks = [];
    bytes = 0;
    number++;
    return line.fault === undefined && line.text.trim() === '' ? undefined : line;
  };
  let total = 0;
  for await (const chunk of body) {
    total += chunk.length;
    if (total > limits.importBytesMax) throw bodyTooLarge(limits.importBytesMax);
    const lines: NumberedLine[] = [];
    let begin = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, begin)) {
      bytes += at - begin;
      if (bytes <= limits.importLineBytesMax) chunks.push(chunk.subarray(begin, at));
      begin = at + 1;
      const line = end();
      if (line !== undefined) lines.push(line);
    }
    if (lines.length > 0) yield lines;
    bytes += chunk.length - begin;
    if (bytes <= limits.importLineBytesMax) chunks.push(chunk.subarray(begin));
    else chunks = [];
  }
  const line = bytes > 0 ? end() : undefined;
  if (line !== undefined) yield [line];
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(number: number, line: Buffer): NumberedLine {
  try {
    return { number, text: utf8.decode(line) };
  } catch {
    return { number, text: '', fault: 'The line is not UTF-8.' };
  }
}
