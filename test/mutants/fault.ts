/** A fault that somebody could write, put into a copy of the product to see whether a test finds it. */
export type Fault = {
  /** Never changed: test/mutants/found.json says of it which test found it. Its part is before the slash. */
  id: string;
  file: string;
  /** Occurs once in the file. */
  text: string;
  fault: string;
  /** What a person would suffer, in one sentence. */
  harm: string;
  /** Files of tests, the quickest that should find it first. When none does, all of their folders are tried. */
  tests: readonly string[];
};

export const partOf = (id: string): string => id.split('/')[0] as string;

/** @returns the content with the fault; undefined where its text does not occur exactly once */
export function withFault(content: string, { text, fault }: Pick<Fault, 'text' | 'fault'>): string | undefined {
  const [before, after, ...more] = content.split(text);
  return after === undefined || more.length > 0 ? undefined : `${before}${fault}${after}`;
}
