import { patterns } from '../../crds/index.ts';

/** The text form of the identifiers that Accord gives: UUIDs in lower case, as Postgres writes them. */
export const UUID = new RegExp(patterns.uuid.source);
