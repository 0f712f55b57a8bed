/** Cuts a stream of bytes into lines: a chunk may end in the middle of a line, and of a character. */

export class LineDecoder {
  readonly #max: number;
  #rest: Uint8Array[] = [];
  #size = 0;

  /** @param max bytes of one line */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * @returns the lines that are complete now, without empty ones; what follows the last line end waits for more, and is
   * lost with us when no more comes
   * @throws {RangeError} a line is longer than `max`
   */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, end));
      if (this.#size > 0) lines.push(Buffer.concat(this.#rest, this.#size).toString('utf8'));
      this.#rest = [];
      this.#size = 0;
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
    return lines;
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#size += part.length;
    if (this.#size > this.#max) throw new RangeError(`a frame of a watch has more than ${this.#max} bytes`);
    this.#rest.push(part);
  }
}
