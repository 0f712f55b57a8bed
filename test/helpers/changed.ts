/** What changed, for `npm run test:changed`: vitest follows imports from it, and is told of the tests that reach it otherwise. */
import { relative, sep } from 'node:path';
import { GitVCSProvider, type VCSProvider } from 'vitest/node';
import { readersOf } from '../readers.ts';

const git = new GitVCSProvider();

export default {
  async findChangedFiles(options) {
    const changed = await git.findChangedFiles(options);
    return [...changed, ...readersOf(changed.map((file) => relative(options.root, file).split(sep).join('/')))];
  },
} satisfies VCSProvider;
