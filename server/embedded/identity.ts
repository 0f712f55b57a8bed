/**
 * The account that the embedded Postgres runs as. It refuses uid 0, so root's is run as an account that exists (`postgres`, else
 * `nobody`), or, where that account cannot reach the files (a clone below a 0700 /root), in a user namespace in which
 * root's own files belong to an ordinary user. Anybody else runs it as himself.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { access, chown, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const SETPRIV = '/usr/bin/setpriv';
const UNSHARE = '/usr/bin/unshare';
const NAMESPACE = ['--user', '--map-user=1000', '--map-group=1000', '--'];

type Account = { name: string; uid: number; gid: number };

export type Identity = {
  /** Gives a file or directory to whom Postgres runs as. */
  own(path: string): Promise<void>;
  /**
   * Starts a program of Postgres.
   * @param dieWithUs it gets SIGINT (fast shutdown) when this process dies in any way, where the machine can (setpriv)
   */
  spawn(program: string, args: readonly string[], options: SpawnOptions, dieWithUs?: boolean): Promise<ChildProcess>;
};

/**
 * Chooses for a cluster in `directory` and binaries at `program`; an existing cluster keeps its owner.
 * @throws Error saying what to change, when root has no way to run it
 */
export async function chooseIdentity(directory: string, data: string, program: string): Promise<Identity> {
  if (process.getuid?.() !== 0) return { own: async () => {}, spawn: (...start) => run([], {}, ...start) };
  const owner = (await stat(data).catch(() => undefined))?.uid;
  const account = await findAccount();
  const reachable =
    account && (await isReachable(account, dirname(directory))) && (await isReachable(account, program));
  if (account && reachable && owner !== 0) {
    const { uid, gid } = account;
    return {
      own: (path) => chown(path, uid, gid),
      spawn: (...start) =>
        run(['--reuid', String(uid), '--regid', String(gid), '--clear-groups'], { uid, gid }, ...start),
    };
  }
  if (await isThere(UNSHARE)) return { own: async () => {}, spawn: inNamespace };
  const who = account
    ? `the account ${account.name} cannot reach ${directory} and ${program}`
    : 'there is neither a postgres nor a nobody account';
  throw new Error(`Postgres refuses to run as root, and ${who}: use another directory, or a user who is not root`);
}

type Start = Parameters<Identity['spawn']>;

/** @param drop setpriv's options for the identity @param ids the same for node's own spawn */
async function run(drop: string[], ids: { uid?: number; gid?: number }, ...[program, args, options, dieWithUs]: Start) {
  if (!dieWithUs || !(await isThere(SETPRIV))) return spawn(program, args, { ...options, ...ids });
  return spawn(SETPRIV, [...drop, '--pdeathsig', 'INT', '--', program, ...args], options);
}

async function inNamespace(...[program, args, options, dieWithUs]: Start) {
  const wrapped = dieWithUs && (await isThere(SETPRIV)) ? [SETPRIV, '--pdeathsig', 'INT', '--', program] : [program];
  return spawn(UNSHARE, [...NAMESPACE, ...wrapped, ...args], options);
}

/** Postgres looks its uid up in the password file: it must be one that is there. */
async function findAccount(): Promise<Account | undefined> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  const fields = ['postgres', 'nobody'].map((name) => lines.find((line) => line[0] === name)).find(Boolean);
  return fields && { name: fields[0] as string, uid: Number(fields[2]), gid: Number(fields[3]) };
}

/** Whether the account may pass through every directory above the path. */
async function isReachable(account: Account, path: string): Promise<boolean> {
  for (let at = path; ; at = dirname(at)) {
    const about = await stat(at).catch(() => undefined);
    // What is not there yet is made by us, below something that is.
    if (about?.isDirectory()) {
      const bit = about.uid === account.uid ? 0o100 : about.gid === account.gid ? 0o010 : 0o001;
      if ((about.mode & bit) === 0) return false;
    }
    if (at === dirname(at)) return true;
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
