import type { WireEvent } from '#clients/typescript/src/api.ts';

/** A request of the page, and how it went. */
export interface Exchange {
  exchange: number;
  method: string;
  url: string;
  body: string | undefined;
  startedAt: number;
  /** Whether events came. */
  isStream?: boolean;
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
  told: Partial<Exchange>,
): WireLog => ({
  ...log,
  exchanges: log.exchanges.map((found) =>
    found.exchange === exchange ? { ...found, ...told, tookMs: at - found.startedAt } : found,
  ),
});

function frameOf(log: WireLog, event: Extract<WireEvent, { kind: 'event' }>): WireFrame {
  const { exchange, at, id, data } = event;
  const startedAt = log.exchanges.find((found) => found.exchange === exchange)?.startedAt ?? at;
  const { type }: { type: string } = JSON.parse(data);
  return {
    exchange,
    id: id === undefined ? undefined : Number(id),
    atMs: at - startedAt,
    type,
    sizeBytes: encoder.encode(data).length,
    text: data.slice(0, TEXT_KEPT_CHARACTERS),
  };
}

/** The log after an event. Requests beyond the newest 200 and frames beyond the newest 500 are forgotten. */
export function recordWire(log: WireLog, event: WireEvent): WireLog {
  switch (event.kind) {
    case 'request': {
      const { exchange, method, url, body, at } = event;
      const exchanges = [...log.exchanges, { exchange, method, url, body, startedAt: at }];
      return { ...log, exchanges: exchanges.slice(-EXCHANGES_KEPT) };
    }
    case 'response':
      return withExchange(log, event, { code: event.code });
    case 'event': {
      const { exchanges } = withExchange(log, event, { isStream: true });
      const found = exchanges.find(({ exchange }) => exchange === event.exchange);
      // Those of the list are no answer.
      if (found?.url.includes('/users/')) return { ...log, exchanges };
      return { exchanges, frames: [...log.frames, frameOf(log, event)].slice(-FRAMES_KEPT) };
    }
    case 'end':
      return withExchange(log, event, { problem: event.problem });
  }
}

/** Whether the last try to send to a conversation, or to read its answer, did not get through. */
export function isCut({ exchanges }: WireLog, conversationId: string): boolean {
  const last = exchanges.findLast(
    ({ method, url }) =>
      url.includes(`/${conversationId}/`) && (method === 'POST' || url.includes('/stream')),
  );
  return last !== undefined && (last.problem !== undefined || (last.code ?? 0) >= 500);
}
