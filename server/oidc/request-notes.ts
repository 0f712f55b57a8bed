/** What the storage notes in the middle of a request, for what the library asks of it next. */
import type { RecordKey, RecordRow } from './schema.ts';

/** What was found to issue tokens of, or to revoke. */
export type Source = { grantId: string; clientId: string; account: string | undefined };

type Notes = {
  /** Read together with the token of it. */
  grant?: RecordRow;
  /** A refresh token that is consumed when its successor is saved, in one statement, so that no crash between the two logs a client out. */
  rotated?: RecordKey;
  source?: Source;
};

export class RequestNotes {
  readonly #of = new WeakMap<object, Notes>();
  readonly #request: () => object | undefined;

  /** @param request what is the same object throughout a request; undefined outside of one */
  constructor(request: () => object | undefined) {
    this.#request = request;
  }

  /** @returns false outside of a request: then it is not noted */
  put<Name extends keyof Notes>(name: Name, value: NonNullable<Notes[Name]>): boolean {
    const request = this.#request();
    if (request === undefined) return false;
    this.#of.set(request, { ...this.#of.get(request), [name]: value });
    return true;
  }

  /** Once. */
  take<Name extends keyof Notes>(name: Name): Notes[Name] | undefined {
    const notes = this.#of.get(this.#request() ?? {});
    const value = notes?.[name];
    delete notes?.[name];
    return value;
  }
}
