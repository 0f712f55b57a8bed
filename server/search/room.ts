import { defineRoom } from '../room/room.ts';

export const searchRoom = defineRoom({
  name: 'search',
  tables: [],
  create: () => ({}),
  metrics(_services, meters) {
    const seconds = meters.histogram('search_seconds', 'Time of a page of a search, without HTTP.');
    const checked = meters.counter('search_candidates_total', 'Candidates that searches checked.');
    return {
      searched({ ms, candidates }) {
        seconds.add(ms / 1000);
        checked.inc(candidates);
      },
    };
  },
});
