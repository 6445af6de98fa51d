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

test.each<
  [string, { count: number; app?: number[]; asks?: number[]; approved?: number[] }, object]
>([
  ['the server’s own are due', { count: 2 }, { due: [2, 3], waiting: [], beyond: [] }],
  ['the app’s wait', { count: 2, app: [3] }, { due: [2], waiting: [3], beyond: [] }],
  [
    'one that the user is asked about waits',
    { count: 1, asks: [2] },
    { due: [], waiting: [2], beyond: [] },
  ],
  [
    'one that the user has allowed is due',
    { count: 1, asks: [2], approved: [2] },
    { due: [2], waiting: [], beyond: [] },
  ],
  ['the 33rd is beyond', { count: 33 }, { due: range(2, 34), waiting: [], beyond: [34] }],
  [
    'the app’s 33rd is, too',
    { count: 33, app: range(2, 35) },
    { due: [], waiting: range(2, 34), beyond: [34] },
  ],
  [
    'those of the server and of the app count together',
    { count: 34, app: range(2, 22) },
    { due: range(22, 34), waiting: range(2, 22), beyond: [34, 35] },
  ],
])('the open calls of the newest round: %s', (_, { count, app = [], asks, approved }, expected) => {
  const sorted = newestCalls({ contents: open(count), rounds: { app, asks, approved } });

  expect({
    due: sorted.due.map(({ index }) => index),
    waiting: sorted.waiting.map(({ index }) => index),
    beyond: sorted.beyond.map(({ index }) => index),
  }).toEqual(expected);
});
