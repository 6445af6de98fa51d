import type { RouteDependencies, Reply } from '../route.ts';
import { EVENT_HEADERS } from '../http/headers.ts';
import { HEARTBEAT_DUE, withHeartbeats } from '../http/heartbeat.ts';
import { AppError } from '#shared/lib/errors.ts';
import { singleLineJson } from '#shared/lib/json-text.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { decodeCursor, EVENTS_LIFE_MS, userEvents } from './user-events.ts';

/** Streams of one user at one instance: more than devices and tabs are open, and few enough for the others. */
const STREAMS_MAX = 10;
const RETRY_AFTER_MS = 5_000;

/** Streams that are open at this instance, by user. */
const openStreams = new Map<string, number>();

/** Counts a stream of a user until its connection is closed. Throws USER_STREAMS. */
function countStream(uid: string, closed: AbortSignal): void {
  // Who has hung up already is not told of again.
  if (closed.aborted) return;
  const open = openStreams.get(uid) ?? 0;
  if (open >= STREAMS_MAX)
    throw new AppError({
      reason: 'USER_STREAMS',
      message: `${open} streams of events are open`,
      publicMessage: `${STREAMS_MAX} streams of events are open. Close one, then try again.`,
      retryAfterMs: RETRY_AFTER_MS,
      metadata: { quota: 'eventStreams', limit: String(STREAMS_MAX) },
    });
  openStreams.set(uid, open + 1);
  const end = () => {
    const left = (openStreams.get(uid) ?? 1) - 1;
    if (left === 0) openStreams.delete(uid);
    else openStreams.set(uid, left);
  };
  closed.addEventListener('abort', end, { once: true });
}

/** The text of the stream. It ends before Cloud Run would cut it, and when this instance ends. */
async function* eventText(
  dependencies: RouteDependencies,
  read: { uid: string; cursor: ReturnType<typeof decodeCursor>; once: boolean; left: AbortSignal },
): AsyncGenerator<string> {
  const { clock, heartbeatMs, shutdown } = dependencies;
  const { uid, cursor, once, left } = read;
  const life = new AbortController();
  const until = AbortSignal.any([left, shutdown, life.signal]);
  void clock.wait(EVENTS_LIFE_MS, until).then(() => life.abort());
  const events = userEvents(dependencies, { uid, cursor, once, until });
  try {
    for await (const next of withHeartbeats(events, { clock, heartbeatMs, left }))
      yield next === HEARTBEAT_DUE
        ? ': keep-alive\n\n'
        : `id: ${next.id}\ndata: ${singleLineJson(next.event)}\n\n`;
  } finally {
    life.abort();
  }
}

/** A stream of what changes in the inbox of `caller`, after `cursor`. Throws BAD_FIELD, USER_STREAMS. */
export function userEventsReply(
  dependencies: RouteDependencies,
  {
    caller: { uid },
    cursor,
    once,
    left: closed,
  }: { caller: Caller; cursor: string | undefined; once: boolean; left: AbortSignal },
): Reply {
  const place = decodeCursor(cursor);
  countStream(uid, closed);
  return {
    kind: 'stream',
    headers: EVENT_HEADERS,
    text: ({ left }) => eventText(dependencies, { uid, cursor: place, once, left }),
    work: Promise.resolve(),
  };
}
