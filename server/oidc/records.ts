/**
 * oidc-provider's storage (its "adapter") on Postgres. It guarantees what the library leaves to its storage: what is used
 * once is used by one of several at once, and tabs of a browser that write the same session at once lose nothing of it.
 */
import type { Adapter, AdapterPayload, errors } from 'oidc-provider';
import { isOfEpoch } from '../accounts/index.ts';
import type { Clock } from '../core/clock.ts';
import type { Database, Transaction } from '../core/db/database.ts';
import type { Encrypter } from '../core/encrypter.ts';
import { limits } from '../core/limits.ts';
import type { Device } from '../http/device.ts';
import { accountDigest, accountOf, clientDigest, hash, openRecord, place } from './record-keys.ts';
import { RequestNotes, type Source } from './request-notes.ts';
import type { Payload, RecordKey, RecordRow, SessionRow, StoredRecord } from './schema.ts';
import {
  consumeRecord,
  endSessions,
  insertRecord,
  lockSessions,
  putRecord,
  readByUserCode,
  readRecord,
  readSessions,
  readSessionsByUid,
  readWithGrant,
  removeConsumed,
  removeFamily,
  removeOfGrant,
  removeOldest,
  removeRecord,
  replaceRecord,
  supersedeSession,
  withoutWaiting,
} from './store.ts';

export type RecordServices = { database: Database; encrypter: Encrypter; clock: Clock };

type Options = {
  tenant: string;
  errors: typeof errors;
  /** The metadata of a client that is enabled. */
  client: (id: string) => object | undefined;
  /** When a client was registered; undefined: it is not. */
  clientCreatedAtMs?: (id: string) => number | undefined;
  /** What is the same object throughout a request; undefined outside of one. */
  request: () => object | undefined;
  /** Who has logged in by the request under way, and the epoch of the account as of then. */
  loggedIn?: () => { id: string; epoch: number } | undefined;
  /** Counts what the request under way stores of somebody who is not known. It may throw. @returns whether to store it */
  begin?: (model: string) => boolean;
  /** Of the request under way. */
  device?: () => Device;
  /** A family ends: its client revoked it, or what is used once was used again, so that a thief may have its tokens. */
  familyEnded?: (source: Source) => Promise<void>;
};

const hashOf = (text: unknown): Buffer | null => (typeof text === 'string' ? hash(text) : null);

/** Losing one of these in a crash costs a person a new beginning, and nobody else anything. */
const LIGHT = new Set(['Interaction', 'Session']);
/** Found by other names than their ids, which are therefore in the payload. */
const NAMED_OTHERWISE = new Set(['DeviceCode', 'Session']);
/** Whoever finds one of these asks for its grant next. */
const WITH_GRANT = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken']);

export class Records {
  readonly #services: RecordServices;
  readonly #options: Options;
  readonly #underWay: RequestNotes;

  constructor(services: RecordServices, options: Options) {
    this.#services = services;
    this.#options = options;
    this.#underWay = new RequestNotes(options.request);
  }

  /** What oidc-provider calls for one of its models. */
  adapter(model: string): Adapter {
    const { tenant, client } = this.#options;
    const key = (id: string): RecordKey => ({ tenant, model, id: hash(id) });
    const none = async () => {};
    const isSession = model === 'Session';
    return {
      upsert: (id, payload, expiresIn) =>
        isSession
          ? this.#putSession(id, payload as Payload, expiresIn ?? 0)
          : this.#put(key(id), payload as Payload, expiresIn ?? 0),
      find: async (id) => {
        if (model === 'Client') return client(id) as AdapterPayload | undefined;
        return (isSession ? this.#findSession(id) : this.#find(key(id), id)) as Promise<AdapterPayload | undefined>;
      },
      findByUid: (uid) => this.#findSessionByUid(uid) as Promise<AdapterPayload | undefined>,
      findByUserCode: (code) => this.#findByUserCode(code) as Promise<AdapterPayload | undefined>,
      consume: (id) => this.#consume(key(id)),
      destroy: (id) => this.#destroy(key(id)),
      revokeByGrantId: model === 'Client' ? none : (grantId) => this.#revoke(model, grantId),
    };
  }

  /** A session has ended, with all its siblings. */
  async endSession(uid: string): Promise<void> {
    const { now, nowMs } = this.#now();
    const expiresAt = new Date(nowMs + limits.interactionTtlMs).toISOString();
    await this.#write((tx) => endSessions(tx, this.#options.tenant, hash(uid), now, expiresAt));
  }

  #now(): { nowMs: number; now: string } {
    const nowMs = this.#services.clock.now();
    return { nowMs, now: new Date(nowMs).toISOString() };
  }

  #write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#services.database.write(this.#options.tenant, work);
  }

  #read<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#services.database.read(this.#options.tenant, work);
  }

  async #put(key: RecordKey, payload: Payload, expiresIn: number): Promise<void> {
    if (this.#options.begin?.(key.model) === false) return;
    const one = this.#stored(key, payload, expiresIn);
    if (key.model === 'ReplayDetection') {
      const { errors } = this.#options;
      if (!(await this.#write((tx) => insertRecord(tx, key, one))))
        throw new errors.InvalidGrant('it was used already');
      return;
    }
    const rotated = key.model === 'RefreshToken' ? this.#underWay.take('rotated') : undefined;
    if (rotated !== undefined) {
      const { now } = this.#now();
      if (!(await this.#write((tx) => replaceRecord(tx, rotated, { key, one }, now)))) await this.#replayed(rotated);
      const isTime = Number(payload.rotations ?? 0) % limits.refreshTokensKeptMax === 0;
      if (isTime) await this.#write((tx) => removeConsumed(tx, key, one, limits.refreshTokensKeptMax));
      return;
    }
    await this.#write(async (tx) => {
      await Promise.all([
        ...(LIGHT.has(key.model) ? [withoutWaiting(tx)] : []),
        putRecord(tx, key, one),
        ...(key.model === 'Grant' ? [removeOldest(tx, key, one, limits.grantsPerAccountAndClientMax)] : []),
      ]);
    });
  }

  /** Two tabs write one session: what each client was given in it survives while it is the same log-in. */
  async #putSession(id: string, payload: Payload, expiresIn: number): Promise<void> {
    const { tenant, errors, begin } = this.#options;
    if (payload.accountId === undefined && begin?.('Session') === false) return;
    const key = { tenant, model: 'Session', id: hash(id) };
    const uid = hash(payload.uid as string);
    await this.#services.database.tenant(tenant, async (tx) => {
      const [, rows] = await Promise.all([withoutWaiting(tx), lockSessions(tx, tenant, uid, this.#now().now)]);
      if (rows.some(({ ended }) => ended)) throw new errors.SessionNotFound('the session has ended');
      if (!(await this.#maySave(tx, rows, payload))) throw new errors.SessionNotFound('the session has ended');
      // For the person, who sees where it is logged in.
      const usedAt = Math.floor(this.#now().nowMs / 1000);
      const merged = { ...this.#merged(rows, payload), usedAt, device: this.#options.device?.() ?? {} };
      const one = this.#stored(key, merged, expiresIn);
      await putRecord(tx, key, one);
      if (rows.length === 0) await removeOldest(tx, key, one, limits.sessionsPerAccountMax);
    });
  }

  /** A session of an account that is not stored was removed with the account's others, unless it has just begun. */
  async #maySave(tx: Transaction, rows: readonly SessionRow[], { accountId }: Payload): Promise<boolean> {
    if (accountId === undefined) return true;
    if (rows.some((row) => this.#opened('Session', row).accountId === accountId)) return true;
    const account = this.#options.loggedIn?.();
    return account?.id === accountId && (await isOfEpoch(tx, this.#options.tenant, account));
  }

  #merged(rows: readonly SessionRow[], payload: Payload): Payload {
    const same = rows
      .filter(({ live }) => live)
      .map((row) => this.#opened('Session', row))
      .filter(({ accountId, loginTs }) => accountId === payload.accountId && loginTs === payload.loginTs);
    const authorizations = Object.assign(
      {},
      ...same.map((one) => one.authorizations),
      payload.authorizations,
    ) as object;
    return Object.keys(authorizations).length === 0 ? payload : { ...payload, authorizations };
  }

  async #findSession(id: string): Promise<Payload | undefined> {
    const { tenant } = this.#options;
    const key = hash(id);
    const rows = await this.#read((tx) => readSessions(tx, { tenant, id: key }, this.#now().now));
    const own = rows.find((row) => row.live && row.id.equals(key));
    if (own === undefined) return undefined;
    return this.#merged(
      rows.filter((row) => row !== own),
      this.#opened('Session', own),
    );
  }

  async #findSessionByUid(uid: string): Promise<Payload | undefined> {
    const rows = await this.#read((tx) => readSessionsByUid(tx, this.#options.tenant, hash(uid), this.#now().now));
    const [first, ...others] = rows.filter(({ live }) => live);
    return first && this.#merged(others, this.#opened('Session', first));
  }

  async #find(key: RecordKey, id: string): Promise<Payload | undefined> {
    const row = await this.#row(key);
    if (row === undefined) return undefined;
    const payload = this.#payload(key.model, row);
    if (!this.#isOfClient(payload)) return undefined;
    const { grantId, clientId, accountId: account } = payload;
    if (grantId !== undefined && clientId !== undefined) this.#underWay.put('source', { grantId, clientId, account });
    return { ...payload, jti: id };
  }

  /** What was issued to a client that was deleted is not a later one's of the same id. */
  #isOfClient({ clientId, clientSince }: Payload): boolean {
    return clientId === undefined || clientSince === this.#sinceOf(clientId);
  }

  #sinceOf(clientId: string): number {
    return this.#options.clientCreatedAtMs?.(clientId) ?? 0;
  }

  async #row(key: RecordKey): Promise<RecordRow | undefined> {
    const { now } = this.#now();
    if (WITH_GRANT.has(key.model)) {
      const rows = await this.#read((tx) => readWithGrant(tx, key, now));
      const grant = rows.find(({ model }) => model === 'Grant');
      if (grant !== undefined) this.#underWay.put('grant', grant);
      return rows.find(({ model }) => model === key.model);
    }
    const grant = key.model === 'Grant' ? this.#underWay.take('grant') : undefined;
    if (grant?.id.equals(key.id)) return grant;
    return this.#read((tx) => readRecord(tx, key, now));
  }

  async #findByUserCode(code: string): Promise<Payload | undefined> {
    const row = await this.#read((tx) => readByUserCode(tx, this.#options.tenant, hash(code), this.#now().now));
    const payload = row && this.#payload('DeviceCode', row);
    return payload && this.#isOfClient(payload) ? payload : undefined;
  }

  async #consume(key: RecordKey): Promise<void> {
    if (key.model === 'RefreshToken' && this.#underWay.put('rotated', key)) return;
    if (!(await this.#write((tx) => consumeRecord(tx, key, this.#now().now)))) await this.#replayed(key);
  }

  /** Whoever loses a race is a replay: the whole family goes, also what the winner is about to save. */
  async #replayed(key: RecordKey): Promise<never> {
    const { errors } = this.#options;
    const source = this.#underWay.take('source');
    await this.#write((tx) => removeFamily(tx, key));
    if (source !== undefined) await this.#options.familyEnded?.(source);
    if (key.model === 'PushedAuthorizationRequest') throw new errors.InvalidRequestUri('request_uri was used already');
    throw new errors.InvalidGrant('it was used already');
  }

  async #destroy(key: RecordKey): Promise<void> {
    await this.#write((tx) =>
      key.model === 'Session' ? supersedeSession(tx, key, this.#now().now) : removeRecord(tx, key),
    );
  }

  async #revoke(model: string, grantId: string): Promise<void> {
    // The library asks for each of its models at once, here for the one that is among them always.
    const source = model === 'AccessToken' ? this.#underWay.take('source') : undefined;
    await Promise.all([
      this.#write((tx) => removeOfGrant(tx, this.#options.tenant, model, hash(grantId))),
      // What ends a session denies tokens itself: there nothing was found of this grant.
      source?.grantId === grantId ? this.#options.familyEnded?.(source) : undefined,
    ]);
  }

  #stored(key: RecordKey, payload: Payload, expiresIn: number): StoredRecord {
    const { encrypter } = this.#services;
    const { tenant } = this.#options;
    const { jti, clientId, ...rest } = payload;
    const of = clientId === undefined ? {} : { clientId, clientSince: this.#sinceOf(clientId) };
    const kept = { ...rest, ...of, ...(NAMED_OTHERWISE.has(key.model) ? { jti } : {}) };
    const account = accountOf(payload);
    const client = clientId ?? (payload.params as { client_id?: string } | undefined)?.client_id;
    return {
      payload: encrypter.encrypt(Buffer.from(JSON.stringify(kept)), place(key)),
      grantId: hashOf(payload.grantId),
      uid: key.model === 'Session' ? hashOf(payload.uid) : null,
      userCode: hashOf(payload.userCode),
      account: account === undefined ? null : accountDigest(encrypter, tenant, account),
      client: client === undefined ? null : clientDigest(encrypter, tenant, client),
      expiresAt: new Date(this.#now().nowMs + expiresIn * 1000).toISOString(),
    };
  }

  #payload(model: string, row: RecordRow): Payload {
    return { ...this.#opened(model, row), ...(row.consumed === null ? {} : { consumed: row.consumed }) };
  }

  #opened(model: string, { id, payload }: { id: Buffer; payload: Buffer }): Payload {
    return openRecord(this.#services.encrypter, { tenant: this.#options.tenant, model, id }, payload);
  }
}
