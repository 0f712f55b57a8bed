/**
 * What a test starts or makes outside of its process ends with that process, however it ends: a shell of its own session reads
 * what there is from a pipe, which is closed when we are gone. Nothing of it is done while we live.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

/** A process that was told to end is killed after so many seconds. */
const GRACE_SECONDS = 10;

const script = `
groups='' folders=''
while IFS=' ' read -r what which; do
  case "$what" in
    group) groups="$groups $which" ;;
    gone)
      left=''
      for group in $groups; do [ "$group" = "$which" ] || left="$left $group"; done
      groups=$left
      ;;
    folder) folders="$folders
$which" ;;
  esac
done
for group in $groups; do kill -TERM "-$group" 2>/dev/null; done
left=${GRACE_SECONDS}0
for group in $groups; do
  while [ "$left" -gt 0 ] && kill -0 "-$group" 2>/dev/null; do sleep 0.1; left=$((left - 1)); done
  kill -KILL "-$group" 2>/dev/null
done
printf '%s\\n' "$folders" | while IFS= read -r folder; do
  [ -z "$folder" ] || rm -rf -- "$folder"
done`;

let pipe: Writable | undefined;

function tell(what: string): void {
  if (pipe === undefined) {
    const shell = spawn('sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
    shell.unref();
    pipe = shell.stdin as Writable;
    pipe.on('error', () => {});
    (pipe as Writable & { unref(): void }).unref();
  }
  pipe.write(`${what}\n`);
}

/** Ends the child, and all of its process group, after us. @param child was started with `detached`, so its group is its own */
export function endAfterUs<Child extends ChildProcess>(child: Child): Child {
  if (child.pid === undefined) return child;
  tell(`group ${child.pid}`);
  child.once('exit', () => tell(`gone ${child.pid}`));
  return child;
}

/** Removes the folder after us, when whoever made it has not. @returns it */
export function removeAfterUs(folder: string): string {
  tell(`folder ${folder}`);
  return folder;
}
