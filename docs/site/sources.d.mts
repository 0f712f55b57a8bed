export const digestFile: string;
export function digestOfSources(): string;
