/** Runs what a server does each second for what time brings. */
import { runTasks, type Task } from '../../server/room/tasks.ts';
import type { TestServer } from '../helpers/server.ts';

function timedTasks({ services: { rooms, use } }: TestServer): Task[] {
  return rooms.flatMap((room) => room.tasks?.(use(room)) ?? []).filter(({ name }) => name.startsWith('telling of '));
}

/** All of them once, one after the other. */
export async function tellOnce(server: TestServer): Promise<void> {
  for (const task of timedTasks(server)) await task.run(new AbortController().signal);
}

/** As a server does. @returns what ends it */
export const tellAlways = (server: TestServer) => runTasks(timedTasks(server), server.services.observe);
