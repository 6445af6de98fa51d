import type { Clock } from '#shared/ports/ports.ts';

/** Streams that this instance holds open, by user: what bounds its memory and its sockets. */
interface OpenStreams {
  /** How many a user has open. */
  count(uid: string): number;
  /** Counts one more until the returned function is called, for `longestMs` at most. */
  open(uid: string): () => void;
}

/** Nothing is kept of a user who has none open. */
export function createOpenStreams(clock: Pick<Clock, 'now'>, longestMs: number): OpenStreams {
  const untilByUser = new Map<string, Set<{ untilMs: number }>>();
  const openOf = (uid: string) => {
    const all = untilByUser.get(uid);
    const nowMs = clock.now().getTime();
    for (const stream of all ?? []) if (stream.untilMs <= nowMs) all?.delete(stream);
    return all;
  };
  return {
    count: (uid) => openOf(uid)?.size ?? 0,
    open: (uid) => {
      const all = openOf(uid) ?? new Set();
      const stream = { untilMs: clock.now().getTime() + longestMs };
      untilByUser.set(uid, all.add(stream));
      return () => {
        all.delete(stream);
        if (all.size === 0 && untilByUser.get(uid) === all) untilByUser.delete(uid);
      };
    },
  };
}
