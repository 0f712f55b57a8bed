/**
 * The `accord` command in this process: one of its own takes seconds to load the program. It has the interface of the real
 * one (test/e2e/accord.ts), which one test of each command runs.
 */
import { vi } from 'vitest';
import { execute } from '../../cli/execute.ts';

/** Runs a command to its end. @throws with what it printed and its exit code, when it fails */
export async function accordHere(args: readonly string[], variables: Record<string, string> = {}) {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const line = (to: string[]) => (text: unknown) => void to.push(`${text}\n`);
  const part = (to: string[]) => (text: unknown) => {
    to.push(String(text));
    return true;
  };
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(line(stdout)),
    vi.spyOn(console, 'error').mockImplementation(line(stderr)),
    vi.spyOn(process.stdout, 'write').mockImplementation(part(stdout)),
    vi.spyOn(process.stderr, 'write').mockImplementation(part(stderr)),
  ];
  const restore = replaceVariables(variables);
  let code: number;
  try {
    code = await execute(args);
  } finally {
    restore();
    for (const spy of spies) spy.mockRestore();
  }
  const printed = { stdout: stdout.join(''), stderr: stderr.join('') };
  if (code !== 0) throw Object.assign(new Error(`accord ${args.join(' ')}: ${printed.stderr}`), { code, ...printed });
  return printed;
}

/** Ours without the ACCORD_ variables of whoever runs the tests, and with these. @returns puts back what was there */
function replaceVariables(variables: Record<string, string>): () => void {
  const before = { ...process.env };
  for (const name of Object.keys(before)) if (name.startsWith('ACCORD_')) delete process.env[name];
  Object.assign(process.env, variables);
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  };
}
