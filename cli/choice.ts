/** What the command line says of where the manifests are: --source and the options that go with it. */
import { opendir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { commands, type Parsed, UsageError } from './arguments.ts';

export type Choice =
  | {
      kind: 'files';
      manifests: string;
      statusDirectory: string;
      invitationsDirectory: string;
      secretsDirectory: string;
    }
  | { kind: 'kubernetes'; kubeconfig: string | undefined; adopt: boolean };

/** @throws UsageError */
export function choiceOf(
  { command, values, flags }: Parsed,
  defaults: { source?: string; manifests?: string } = {},
): Choice {
  const { source = defaults.source, kubeconfig, data = '.accord' } = values;
  const wrong = (why: string) => new UsageError(`accord ${command}: ${why}\nusage: ${commands[command].usage}`);
  const adopt = flags.has('adopt-cluster');
  if (source === 'kubernetes') {
    if (values.manifests !== undefined) throw wrong('--manifests goes with --source files');
    return { kind: 'kubernetes', kubeconfig, adopt };
  }
  if (source !== 'files') throw wrong('--source is files or kubernetes');
  if (kubeconfig !== undefined || adopt) throw wrong('--kubeconfig and --adopt-cluster go with --source kubernetes');
  const manifests = values.manifests ?? defaults.manifests;
  if (manifests === undefined) throw wrong('--manifests names the directory of the manifests');
  const [statusDirectory, invitationsDirectory, secretsDirectory] = ['status', 'invitations', 'secrets'].map((name) =>
    resolve(data, name),
  ) as [string, string, string];
  return { kind: 'files', manifests, statusDirectory, invitationsDirectory, secretsDirectory };
}

/** @throws UsageError when the manifests are not in a directory that can be read: who starts all at once would wait for nothing */
export async function requireManifests(command: Parsed['command'], choice: Choice): Promise<void> {
  if (choice.kind !== 'files') return;
  try {
    await (await opendir(choice.manifests)).close();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const known: Record<string, string> = {
      ENOENT: 'there is no such directory',
      ENOTDIR: 'it is a file, and manifests are read from a directory',
      EACCES: 'it may not be read (permission denied)',
    };
    const why = `--manifests ${resolve(choice.manifests)}: ${known[code ?? ''] ?? message}`;
    throw new UsageError(`accord ${command}: ${why}\nusage: ${commands[command].usage}`);
  }
}
