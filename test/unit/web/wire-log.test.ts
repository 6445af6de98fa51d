import { expect, test } from 'vitest';
import type { WireEvent } from '#web/api/requester.ts';
import { emptyWireLog, EXCHANGES_KEPT, FRAMES_KEPT, recordWire } from '#web/state/wire-log.ts';

const request = (exchange: number, at = 1_000): WireEvent => ({
  kind: 'request',
  exchange,
  at,
  accept: 'text/event-stream',
  url: 'http://127.0.0.1:1/v1/conversations/c/messages?pageSize=2',
  call: { method: 'POST', path: '/v1/conversations/c/messages', body: { message: 'ü' } },
});
const frame = (exchange: number, id: number, at = 1_050): WireEvent => ({
  kind: 'frame',
  exchange,
  at,
  frame: { id, chunk: { type: 'text-delta', id: 'p0', delta: 'ü' } },
});
const record = (events: readonly WireEvent[]) => events.reduce(recordWire, emptyWireLog);

test('the wire log keeps a request and how it ended', () => {
  const log = record([
    request(1),
    { kind: 'response', exchange: 1, at: 1_030, code: 200 },
    { kind: 'end', exchange: 1, at: 1_090 },
  ]);

  expect(log.exchanges).toEqual([
    expect.objectContaining({
      method: 'POST',
      path: '/v1/conversations/c/messages?pageSize=2',
      body: '{"message":"ü"}',
      code: 200,
      tookMs: 90,
    }),
  ]);
});

test('the wire log measures an event in bytes, from its request’s start', () => {
  const { frames } = record([request(7), frame(7, 2)]);

  expect(frames).toEqual([
    expect.objectContaining({ exchange: 7, id: 2, atMs: 50, type: 'text-delta', sizeBytes: 44 }),
  ]);
});

test('the wire log forgets the oldest requests and events beyond its bounds', () => {
  const more = 5;
  const log = record([
    ...Array.from({ length: EXCHANGES_KEPT + more }, (_, i) => request(i)),
    ...Array.from({ length: FRAMES_KEPT + more }, (_, i) => frame(1, i)),
  ]);

  expect(log.exchanges).toHaveLength(EXCHANGES_KEPT);
  expect(log.exchanges[0]?.exchange).toBe(more);
  expect(log.frames).toHaveLength(FRAMES_KEPT);
  expect(log.frames[0]?.id).toBe(more);
});
