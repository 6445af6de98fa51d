import { expect, test } from 'vitest';
import { newestCalls } from '#functions/chat/turns/answer/answer-round.ts';
import type { Content } from '#shared/models/content.ts';
import { openResponses } from '#shared/conversation/context/tool-calls.ts';

const calls = (count: number): Content => ({
  role: 'model',
  parts: Array.from({ length: count }, () => ({ functionCall: { name: 'f', args: {} } })),
});
const answered = (said: Content): Content => ({
  role: 'user',
  parts: said.parts.map(() => ({ functionResponse: { name: 'f', response: { ok: true } } })),
});
/** A turn with an answered round of two, and a newest one of `count`, nobody having answered. */
const open = (count: number): Content[] => [
  calls(2),
  answered(calls(2)),
  calls(count),
  openResponses(calls(count)),
];
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test('calls of the newest round count together, the app’s and the server’s own, and the 33rd is beyond', () => {
  const rounds = { app: range(2, 22), asks: [], approved: [] };

  const sorted = newestCalls({ contents: open(34), rounds });

  const indexes = (those: readonly { index: number }[]) => those.map(({ index }) => index);
  expect([indexes(sorted.due), indexes(sorted.waiting), indexes(sorted.beyond)]).toEqual([
    range(22, 34),
    range(2, 22),
    [34, 35],
  ]);
});
