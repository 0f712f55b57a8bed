// Runs a program in this process's place: its signals are the program's, and so is its end.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/**
 * Runs a program until it ends. Each SIGINT, SIGTERM and SIGHUP that we get is passed on: whoever sends one to us alone
 * means the program. A terminal sends Ctrl-C to both, so the program may get it twice at once (cli/stop.ts takes it once).
 * @returns its exit code; 128 and the signal's number, as a shell says it, when a signal ended it
 */
export function runChild(file, args, options) {
  const child = spawn(file, args, { stdio: 'inherit', ...options });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}
