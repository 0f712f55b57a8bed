import { expect, test } from 'vitest';
import { placeOfFile } from '../../cli/place.ts';

test.each([
  ['/work/app/.accord/outbox/a.eml', '.accord/outbox/a.eml'],
  ['/data/outbox/a.eml', '/data/outbox/a.eml'],
  ['/work/data/a.eml', '/work/data/a.eml'],
])('%s is told from /work/app as %s', (path, told) => expect(placeOfFile(path, '/work/app')).toBe(told));
