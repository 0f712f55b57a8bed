export const root: string;
export const heapFlags: readonly string[];
export function findNode(): string;
