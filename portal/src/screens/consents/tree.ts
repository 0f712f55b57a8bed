/** A definition as C/consent-definitions/{name}/tree answers it. */
type Attributes = Record<string, unknown>;
export type EndOfLife = { startDate: string; endDate: string; gracePeriod: string };
type Content = { title: string; mediaType: string; body?: string; url?: string; digest?: string };
export type DocumentConfig = {
  version: string;
  language: string;
  effectiveDate: string;
  content?: Content;
} & Attributes;
type VersionTree = {
  config: { version: string; endOfLife?: EndOfLife } & Attributes;
  documents: { config: DocumentConfig }[];
};
export type Tree = {
  managedBy: string;
  config: { name: string; archived?: boolean; languageFallback?: 'lookup' } & Attributes;
  versions: VersionTree[];
};
