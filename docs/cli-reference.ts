/** docs/cli.md: what the commands say of themselves. */
import { commands, help } from '../cli/arguments.ts';

const flag = ([name, { type, multiple, default: fallback }]: [
  string,
  { type: string; multiple?: boolean; default?: unknown },
]) =>
  `| \`--${name}\` | ${type === 'boolean' ? '' : 'a value'}${multiple ? ', several times' : ''} | ${fallback === undefined ? '' : `\`${fallback}\``} |`;

export function cliReference(generated: string): string {
  const sections = Object.entries(commands).map(([name, command]) =>
    [
      `## accord ${name}`,
      ['```text', help(name as keyof typeof commands).replace(/\n\nConfiguration: .*$/, ''), '```'].join('\n'),
      ...(Object.keys(command.options).length > 0
        ? [
            ['| Option | Takes | Default |', '| --- | --- | --- |', ...Object.entries(command.options).map(flag)].join(
              '\n',
            ),
          ]
        : []),
    ].join('\n\n'),
  );
  return [
    '# The command line',
    generated,
    'In a clone the command is `npx accord`, in the image `accord`. `accord help` lists the commands, `accord COMMAND --help` shows one. ' +
      'Commands read [`ACCORD_` variables](configuration.md); those that take `--data` find a running `accord start` there when ' +
      '`ACCORD_DATABASE_URL` is not set. An unknown command or option is refused with the exit status 2.',
    ...sections,
  ].join('\n\n');
}
