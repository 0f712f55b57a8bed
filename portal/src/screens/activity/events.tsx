/** The log of events: their numbers and types. What they carry is read by clients of the tenant. */
import { Button } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { type Connection, pageOf, usePages } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { CopyId, curl, DataTable, Icon, RelativeTime, ShowAs } from '../../ui/index.ts';
import { ActivityPage } from './tabs.tsx';
import { texts } from './texts.ts';

type Row = { sequence: string; time: string; rowId: string; type: string };
const followMs = 3_000;

export default function Events() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [isFollowing, setFollowing] = useState(false);
  const all = usePages(
    ['events', tenant.code, isFollowing ? 'newest' : 'all'],
    async (after, signal) =>
      pageOf((await api.graphql<{ allEvents: Connection<Row> }>('events', { after }, signal)).allEvents),
    { placeholderData: keepPreviousData, ...(isFollowing && { refetchInterval: followMs }) },
  );
  // The newest page alone is followed: more of them would be read every few seconds.
  const pages = isFollowing ? { ...all, hasMore: false } : all;
  return (
    <ActivityPage
      place="events"
      about={t.eventsAbout}
      actions={
        <>
          <ShowAs curl={curl(api.path('/event-stream/events'), { note: t.eventsCall })} />
          <Button
            variant="default"
            aria-pressed={isFollowing}
            leftSection={<Icon name="refresh" />}
            onClick={() => setFollowing(!isFollowing)}
          >
            {isFollowing ? t.followed : t.follow}
          </Button>
        </>
      }
    >
      <DataTable
        label={t.events}
        pages={pages}
        rowKey={({ sequence }) => sequence}
        empty={<p className="dim">{t.noEvents}</p>}
        columns={[
          { id: 'number', header: t.number, numeric: true, cell: ({ sequence }) => sequence },
          { id: 'type', header: t.type, cell: ({ type }) => <span className="mono">{type}</span> },
          { id: 'time', header: t.when, cell: ({ time }) => <RelativeTime at={time} /> },
          { id: 'id', header: 'id', cell: ({ rowId }) => <CopyId id={rowId} /> },
        ]}
      />
    </ActivityPage>
  );
}
