import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { beginJourney, listing } from '#test/support/tools/tool-journey.ts';
import { responsesIn } from '#test/support/tools/tool-world.ts';

let journey: Awaited<ReturnType<typeof beginJourney>>;
let turns: Turn[];

/** Tools of the server and of the app, and compactions while the app is asked, inside a tool, and between turns. */
beforeAll(async () => {
  journey = await beginJourney();
  const { say, answer, compact } = journey;
  await say('call list {"page":1}\nthen\ncall list {"page":2}');
  await say('call list {"page":3}\ncall list {"page":4}');
  await say('call locate {"question":"where"}\ncall list {"page":5}');
  await compact('while the app is asked');
  await answer(3, { callId: 't_3_c0', kind: 'response', response: { town: 'Bergen' } });
  await say('call list {"page":6}\nthen\ncall compact\nthen\ncall choose {"question":"berth"}');
  await compact('while the app is asked again');
  await answer(4, { callId: 't_4_c2', kind: 'response', response: { error: 'No berth chosen.' } });
  await say('call transfer {"amount":5}');
  await compact('while the user is asked');
  await answer(5, { callId: 't_5_c0', kind: 'approval', isApproved: true });
  await say('call locate {"question":"again"}');
  await say('Never mind, thank you.');
  await compact('behind an answer that never came');
  await say('call recall_history {"query":"berth key K-17"}');
  const documents = await readTurns(
    journey.chat.store,
    journey.conversationId,
    [1, 2, 3, 4, 5, 6, 7, 8],
  );
  turns = documents.map(({ value }) => value);
}, 60_000);
afterAll(() => journey.stop());

test('a conversation with server and app tools continues over its compactions', () => {
  expect(turns.map(({ state }) => state)).toEqual([
    ...Array.from({ length: 5 }, () => 'done'),
    'cancelled',
    'done',
    'done',
  ]);
});

test('a tool conversation is compacted during app calls, tool runs and between turns', () => {
  const states = Object.fromEntries(journey.compactions.map(({ step, state }) => [step, state]));

  expect(states).toMatchObject({
    'while the app is asked': 'COMPACTED',
    'call list {"page":6}\nthen\ncall compact\nthen\ncall choose {"question":"berth"}': 'COMPACTED',
    'while the user is asked': 'COMPACTED',
    'behind an answer that never came': 'COMPACTED',
  });
});

test('no prompt of a tool conversation is refused at any step', () => {
  expect(journey.prompts.length).toBeGreaterThan(15);
  expect(journey.refusals).toEqual([]);
});

test('before every message of a tool conversation, /context shows what is sent', () => {
  expect(journey.differences).toEqual([]);
});

test('every output of a tool conversation is in the transcript in full', () => {
  expect(turns.flatMap(({ contents }) => responsesIn(contents))).toMatchObject([
    ...[1, 2, 3, 4].map((page) => ({ name: 'list', response: { output: listing(page) } })),
    { name: 'locate', response: { town: 'Bergen' } },
    { name: 'list', response: { output: listing(5) } },
    { name: 'list', response: { output: listing(6) } },
    { name: 'compact' },
    { name: 'choose', response: { error: 'No berth chosen.' } },
    { name: 'transfer', response: { amount: 5 } },
    { name: 'locate', response: { error: 'cancelled_by_user' } },
    { name: 'recall_history' },
  ]);
});

test('the recall tool finds what a tool conversation folded', () => {
  const [found] = responsesIn(turns.at(-1)?.contents ?? []);

  expect(JSON.stringify(found)).toContain('K-17');
});
