// Runs a program in this process's place: its signals are the program's, and so is its end.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const ORPHAN_LOOK_MS = 500;

/**
 * Runs a program until it ends. Each SIGINT, SIGTERM and SIGHUP that we get is passed on: whoever sends one to us alone
 * means the program. A terminal sends Ctrl-C to both, so the program may get it twice at once (cli/stop.ts takes it once).
 * @returns its exit code; 128 and the signal's number, as a shell says it, when a signal ended it
 * @param options.withParent whether it ends, too, when the process that started us is gone
 */
export async function runChild(file, args, { withParent = false, ...options }) {
  const child = spawn(file, args, { stdio: 'inherit', ...options });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const looking = withParent ? followParent(() => child.kill('SIGTERM')) : undefined;
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearInterval(looking);
      resolve(code ?? 128 + constants.signals[signal]);
    });
  });
}

/** npm signals the shell between itself and us, and some shells do not pass it on: they are gone, and we are not. */
function followParent(orphaned) {
  const parent = process.ppid;
  const looking = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(looking);
    orphaned();
  }, ORPHAN_LOOK_MS);
  looking.unref();
  return looking;
}
