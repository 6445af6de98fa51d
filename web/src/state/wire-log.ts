import type { Call, WireEvent } from '#web/api/requester.ts';

/** A request of the page, and how it went. */
export interface Exchange {
  exchange: number;
  call: Call;
  url: string;
  accept: string;
  startedAt: number;
  /** HTTP code; undefined while there is none. */
  code?: number;
  /** Until it ended; of a stream until its end or cut. */
  tookMs?: number;
  problem?: string;
}

export interface WireFrame {
  exchange: number;
  id: number | undefined;
  /** Since the request was made. */
  atMs: number;
  type: string;
  sizeBytes: number;
  /** JSON text, its beginning. */
  text: string;
}

/** What has gone over the wire, the newest of it. */
interface WireLog {
  exchanges: readonly Exchange[];
  frames: readonly WireFrame[];
}

export const EXCHANGES_KEPT = 200;
export const FRAMES_KEPT = 500;
/** Of a frame's text; a delta is shorter. */
const TEXT_KEPT_CHARACTERS = 400;

export const emptyWireLog: WireLog = { exchanges: [], frames: [] };

const encoder = new TextEncoder();

/** With what an event tells of its exchange. */
const withExchange = (
  log: WireLog,
  { exchange, at }: WireEvent,
  told: Pick<Exchange, 'code' | 'problem'>,
): WireLog => ({
  ...log,
  exchanges: log.exchanges.map((found) =>
    found.exchange === exchange ? { ...found, ...told, tookMs: at - found.startedAt } : found,
  ),
});

function frameOf(log: WireLog, event: Extract<WireEvent, { kind: 'frame' }>): WireFrame {
  const { exchange, at, frame } = event;
  const startedAt = log.exchanges.find((found) => found.exchange === exchange)?.startedAt ?? at;
  const text = JSON.stringify(frame.chunk);
  return {
    exchange,
    id: frame.id,
    atMs: at - startedAt,
    type: frame.chunk.type,
    sizeBytes: encoder.encode(text).length,
    text: text.slice(0, TEXT_KEPT_CHARACTERS),
  };
}

/** The log after an event. Requests beyond the newest 200 and frames beyond the newest 500 are forgotten. */
export function recordWire(log: WireLog, event: WireEvent): WireLog {
  switch (event.kind) {
    case 'request': {
      const { exchange, call, url, accept, at } = event;
      const exchanges = [...log.exchanges, { exchange, call, url, accept, startedAt: at }];
      return { ...log, exchanges: exchanges.slice(-EXCHANGES_KEPT) };
    }
    case 'response':
      return withExchange(log, event, { code: event.code });
    case 'frame':
      return { ...log, frames: [...log.frames, frameOf(log, event)].slice(-FRAMES_KEPT) };
    case 'end':
      return withExchange(log, event, { problem: event.problem });
  }
}
