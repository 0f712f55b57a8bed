/** The thread that reads large files of manifests: one file a message, and a word before it begins. */
import { parentPort } from 'node:worker_threads';
import { type ParsedText, parseText } from './parse.ts';

export type ToParseWorker = { path: string; text: string };
export type FromParseWorker = 'started' | ParsedText;

const answer = (message: FromParseWorker) => parentPort?.postMessage(message);

parentPort?.on('message', ({ path, text }: ToParseWorker) => {
  answer('started');
  answer(parseText(path, text));
});
