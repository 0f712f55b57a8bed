/** Writes weak-passwords.bloom of the common passwords that @zxcvbn-ts/language-common lists; part of npm run generate. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dictionary } from '@zxcvbn-ts/language-common';
import { makeWeakList } from './weak.ts';

const WRONG_ONCE_IN = 10_000;
const file = new URL('./weak-passwords.bloom', import.meta.url);
const passwords = dictionary['passwords-common'].map((one) => one.normalize('NFKC').toLowerCase());
const made = makeWeakList(passwords, WRONG_ONCE_IN);
if (!process.argv.includes('--check')) writeFileSync(file, made);
else if (!readFileSync(file).equals(made)) {
  console.error('server/accounts/weak-passwords.bloom is out of date; run: npm run generate');
  process.exitCode = 1;
}
