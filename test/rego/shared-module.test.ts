/** The compiler's module is loaded by the first thread of a process that wants it, and given to the others. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { SharedModule } from '../../server/rego/shared-module.ts';
import { turns } from '../helpers/wait.ts';

/** A thread, which notes what it is sent. */
const thread = () => {
  const sent: unknown[] = [];
  return { sent, postMessage: (message: unknown) => void sent.push(message) };
};
// The smallest one: its magic number and version.
const module = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
const load = { module: undefined };

test('the first loads it, and those that come meanwhile and later are given it', async () => {
  const shared = new SharedModule();
  const [first, second, third] = [thread(), thread(), thread()];
  await shared.give(first);
  void shared.give(second);
  await turns();
  expect([first.sent, second.sent]).toEqual([[load], []]);
  shared.keep(module);
  await turns();
  await shared.give(third);
  expect([first.sent, second.sent, third.sent]).toEqual([[load], [{ module }], [{ module }]]);
});

test('when the first ends before it has, the next one loads it', async () => {
  const shared = new SharedModule();
  const [first, second, third] = [thread(), thread(), thread()];
  await shared.give(first);
  void shared.give(second);
  void shared.give(third);
  shared.leave(first, 1);
  await turns();
  expect([second.sent, third.sent]).toEqual([[load], []]);
  shared.keep(module);
  await turns();
  expect(third.sent).toEqual([{ module }]);
});

test('one that ended while it waited is sent nothing, and nobody waits for it', async () => {
  const shared = new SharedModule();
  const [first, second, third] = [thread(), thread(), thread()];
  await shared.give(first);
  void shared.give(second);
  shared.leave(second, 1);
  shared.leave(first, 1);
  await turns();
  await shared.give(third);
  expect([second.sent, third.sent]).toEqual([[], [load]]);
});

test('it is forgotten after the last thread: at once, or after a time in which none came', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const shared = new SharedModule();
  const next = async () => {
    const one = thread();
    await shared.give(one);
    return one;
  };
  const first = await next();
  shared.keep(module);
  shared.leave(first, 1000);
  vi.advanceTimersByTime(999);
  const second = await next();
  vi.advanceTimersByTime(1000);
  const third = await next();
  expect([second.sent, third.sent]).toEqual([[{ module }], [{ module }]]);
  shared.leave(second, 1000);
  shared.leave(third, 1000);
  vi.advanceTimersByTime(1000);
  const fourth = await next();
  expect(fourth.sent).toEqual([load]);
  shared.keep(module);
  shared.leave(fourth, 0);
  expect((await next()).sent).toEqual([load]);
});
