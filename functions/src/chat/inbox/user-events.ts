import type { ChatDependencies } from '../chat-dependencies.ts';
import { inboxCollection } from '#shared/conversation/documents/paths.ts';
import { badField, StoreUnavailableError } from '#shared/lib/errors.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';
import { lastSegment } from '#shared/store/names.ts';
import { compareUpdateTimes } from '#shared/store/update-time.ts';
import { conversationIdSchema } from '#shared/wire/fields.ts';
import { type UserEvent, conversationEvent } from '#shared/wire/resources/user-events.ts';
import { LATEST_MS, readableEntry } from './list-conversations.ts';
import { z } from 'zod';

/**
 * Writers note the time before they commit: what is committed after a place may be noted this much before it. Longer than
 * any commit is tried.
 */
const OVERLAP_MS = 10 * 60_000;
/** A device that was away for longer, or missed more, reads the list anew. */
const AWAY_MAX_MS = 7 * 24 * 60 * 60_000;
const MISSED_MAX = 500;
/** Shorter than a request may take: the reader then comes back with its cursor, perhaps to another instance. */
export const EVENTS_LIFE_MS = 5 * 60_000;

/** Where a reader is: behind all commits up to this one, of which this was the last entry. */
interface EventCursor {
  /** The latest time that was noted by then, ms since 1970. */
  timeMs: number;
  updateTime: string;
  conversationId: string;
}

const cursorSchema = z.tuple([
  z.coerce.number().int().min(0).max(LATEST_MS),
  z.string().regex(/^\d{1,12}\.\d{1,9}$/),
  z.union([z.literal(''), conversationIdSchema]),
]);

const encodeCursor = ({ timeMs, updateTime, conversationId }: EventCursor) =>
  `${timeMs}_${updateTime}_${conversationId}`;

/** The place that a cursor names; undefined without one. Anybody may have written it. Throws BAD_FIELD. */
export function decodeCursor(cursor: string | undefined): EventCursor | undefined {
  if (cursor === undefined || cursor === '') return undefined;
  const { data } = cursorSchema.safeParse(cursor.split('_'));
  if (!data)
    throw badField(
      'cursor',
      '`cursor` (or `Last-Event-ID`) must be the `id` of the last event that was received. Leave it out to begin with what comes next.',
    );
  const [timeMs, updateTime, conversationId] = data;
  return { timeMs, updateTime, conversationId };
}

const compareCursors = (a: EventCursor, b: EventCursor): number =>
  compareUpdateTimes(a.updateTime, b.updateTime) ||
  (a.conversationId < b.conversationId ? -1 : Number(a.conversationId > b.conversationId));

interface SentEvent {
  /** The cursor with which a reader goes on after it. */
  id: string;
  event: UserEvent;
}

interface Change {
  place: EventCursor;
  document: StoredDocument;
}

/** Changes in the order of their commits; `timeMs` of each is the latest up to it. */
function inOrder(documents: readonly StoredDocument[], from: EventCursor): Change[] {
  const changes = documents.map((document) => {
    const { changeTime } = document.fields;
    const timeMs = changeTime instanceof Date ? changeTime.getTime() : 0;
    const conversationId = lastSegment(document.path);
    return { place: { timeMs, updateTime: document.updateTime, conversationId }, document };
  });
  changes.sort((a, b) => compareCursors(a.place, b.place));
  let { timeMs } = from;
  for (const { place } of changes) place.timeMs = timeMs = Math.max(timeMs, place.timeMs);
  return changes;
}

/**
 * What changes in the inbox of a user, in the order of the commits, until `until` fires: after the cursor, then as it
 * comes. `ready` stands where the reader has caught up; `reset` there instead if it was away for too long to be told what
 * it missed; who wants them `once` has enough there. Changes of one conversation that come close together may come as
 * one. Ends where the store does not answer: a reader comes back with its cursor.
 */
export async function* userEvents(
  dependencies: Pick<ChatDependencies, 'store' | 'clock' | 'logger'>,
  {
    uid,
    cursor,
    once,
    until,
  }: { uid: string; cursor: EventCursor | undefined; once: boolean; until: AbortSignal },
): AsyncGenerator<SentEvent> {
  const { store, clock } = dependencies;
  const nowMs = clock.now().getTime();
  const isAway = cursor !== undefined && nowMs - cursor.timeMs > AWAY_MAX_MS;
  const from = isAway ? undefined : cursor;
  let at: EventCursor = from ?? { timeMs: nowMs, updateTime: '0.0', conversationId: '' };
  const since = { field: 'changeTime', value: new Date(at.timeMs - OVERLAP_MS) };
  const tell = ({ place, document }: Change): SentEvent[] => {
    at = place;
    const entry = readableEntry(dependencies, document);
    const event = entry && conversationEvent(place.conversationId, entry);
    return event ? [{ id: encodeCursor(place), event }] : [];
  };
  let isFirst = true;
  try {
    for await (const documents of store.watch(inboxCollection(uid), until, since)) {
      const changes = inOrder(documents, at);
      const missed = changes.filter(({ place }) => compareCursors(place, at) > 0);
      const isTold = !isFirst || (from !== undefined && missed.length <= MISSED_MAX);
      if (isTold) for (const change of missed) yield* tell(change);
      else at = changes.at(-1)?.place ?? at;
      if (isFirst) {
        // What was noted by then has come, or is noted within the overlap: a place does not age where nothing happens.
        at = { ...at, timeMs: Math.max(at.timeMs, nowMs) };
        const type = isTold || cursor === undefined ? 'ready' : 'reset';
        yield { id: encodeCursor(at), event: { type } };
        if (once) return;
      }
      isFirst = false;
    }
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
  }
  yield { id: encodeCursor(at), event: { type: 'reconnect' } };
}
