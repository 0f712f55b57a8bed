import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type FileObject, listTree, type ParsedFile, Parser, readManifests } from '../../operator/index.ts';
import { limits } from '../../server/core/limits.ts';
import { type Finding, ofSource } from './findings.ts';

const STDIN = '-';

export async function readAll(
  paths: readonly string[],
  progress: (path: string) => void,
): Promise<{ objects: FileObject[]; findings: Finding[] }> {
  const parser = new Parser();
  const objects: FileObject[] = [];
  const findings: Finding[] = [];
  const known = new Set<string>();
  try {
    for (const path of paths) {
      const { files: listedFiles, findings: listed } = await filesOf(path);
      // A file may be named and be in a directory that is named as well.
      const files = listedFiles.filter((file) => !known.has(resolve(file)));
      for (const file of files) known.add(resolve(file));
      const before = objects.length + findings.filter(({ severity }) => severity === 'error').length;
      findings.push(...listed);
      for (const file of files) {
        progress(file);
        const parsed = await read(file, parser);
        objects.push(...parsed.objects);
        findings.push(...parsed.problems.map(ofSource));
      }
      const after = objects.length + findings.filter(({ severity }) => severity === 'error').length;
      if (after === before && files.length === listedFiles.length)
        findings.push({ severity: 'error', rule: 'empty', message: emptyOf(files), file: path });
    }
  } finally {
    await parser.close();
  }
  return { objects, findings };
}

function emptyOf(files: readonly string[]): string {
  return files.length === 0 ? 'no file that ends in .yaml, .yml or .json is here' : 'no manifest of Accord is here';
}

async function filesOf(path: string): Promise<{ files: string[]; findings: Finding[] }> {
  if (path === STDIN) return { files: [path], findings: [] };
  const about = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (about instanceof Error) {
    return { files: [], findings: [{ severity: 'error', rule: 'unreadable', message: describe(about), file: path }] };
  }
  if (!about.isDirectory()) return { files: [path], findings: [] };
  const listing = await listTree(path);
  const base = path.replace(/\/+$/, '');
  const inside = (below: string) => (below === path ? path : `${base}/${below}`);
  return {
    files: [...listing.files.keys()].map(inside),
    findings: listing.problems.map((problem) => ofSource({ ...problem, place: inside(problem.place) })),
  };
}

function describe({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'There is no such file or directory.';
  return code === 'EACCES' ? 'Permission denied.' : message;
}

async function read(file: string, parser: Parser): Promise<ParsedFile> {
  const read = file === STDIN ? await readStdin() : await readManifests(file);
  if (read === 'changing') return unread(file, 'The file changed while it was read.');
  if (read === 'gone') return unread(file, 'No such file or directory.');
  return 'problem' in read ? unread(file, read.problem) : parser.parse(file === STDIN ? 'stdin' : file, read.text);
}

async function readStdin(): Promise<{ text: string } | { problem: string }> {
  const bytes = await buffer(process.stdin);
  if (bytes.length > limits.manifestFileBytesMax) {
    return { problem: `There are ${bytes.length} bytes; ${limits.manifestFileBytesMax} are allowed.` };
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { problem: 'It is not UTF-8.' };
  }
}

function unread(place: string, message: string): ParsedFile {
  return { objects: [], problems: [{ place, message }], whole: false };
}
