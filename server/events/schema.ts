/** Shapes of the events room: rows of the log, and events as the API shows them. */
import { type Static, Type } from 'typebox';
import { Instant, Json, Nullable } from '../core/db/rows.ts';

export const EventRow = Type.Object({
  sequence: Type.Integer(),
  at: Instant,
  time: Instant,
  id: Type.String(),
  type: Type.String(),
  key: Type.String(),
  body: Json<Record<string, unknown>>(),
});
export type EventRow = Static<typeof EventRow>;

/** An event of the log, or only its place where its type was not asked for. */
export const ScannedRow = Type.Object({ sequence: Type.Integer(), at: Instant, event: Nullable(Json<EventRow>()) });

/** `last`: the newest number; `removed`: the newest one that retention has removed. */
export const CounterRow = Type.Object({ last: Type.Integer(), removed: Type.Integer() });
export type Counter = Static<typeof CounterRow>;

export const MovedRow = Type.Object({
  mine: Type.Boolean(),
  moved: Type.Integer(),
  last: Type.Integer(),
  tenants: Json<string[]>(),
});

export const NamingRow = Type.Object({ n: Type.Integer(), key: Type.String(), body: Json<Record<string, unknown>>() });
export type NamingRow = Static<typeof NamingRow>;

export const CloudEvent = Type.Object(
  {
    specversion: Type.Literal('1.0'),
    id: Type.String({ description: 'Unique for each event of the source. Deduplicate by it.' }),
    source: Type.String({ description: "Address of the tenant's Management APIs." }),
    type: Type.String({ description: 'One of the types of C/event-stream/event-types.' }),
    time: Type.String({ format: 'date-time', description: 'When it happened.' }),
    subject: Type.String({ description: 'What it is about. Events with the same subject are in order.' }),
    datacontenttype: Type.Literal('application/json'),
    sequence: Type.String({
      description: 'Number of the event, with 16 digits: each event of the tenant has the next one, without gaps.',
    }),
    partitionkey: Type.String({ description: 'The same as subject, for brokers.' }),
    data: Type.Record(Type.String(), Type.Unknown(), { description: "As the type's schema says." }),
  },
  { description: 'A CloudEvent (version 1.0, JSON).' },
);
export type CloudEvent = Static<typeof CloudEvent>;
