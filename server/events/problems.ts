import { defineProblems } from '../core/problems.ts';

export const eventProblem = defineProblems({
  events_gone: {
    status: 410,
    title: 'Events removed',
    when: 'Events after the given number were removed, because they were older than the retention of the tenant. The error names the oldest event that is kept.',
  },
  events_ahead: {
    status: 409,
    title: 'No such event yet',
    when: 'The given number is greater than that of the newest event. The database may have been restored from a backup. The error names the newest event.',
  },
  event_readers_busy: {
    status: 429,
    title: 'Too many readers',
    when: 'The maximum number of requests of the tenant are waiting for events or streaming them.',
    retryAfterSeconds: 1,
  },
});
