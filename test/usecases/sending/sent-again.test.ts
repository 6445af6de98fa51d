import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { translateError } from '#functions/adapters/gemini/gemini-errors.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { AppError } from '#shared/errors.ts';
import { exportMessages } from '#shared/wire/resources/export.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import {
  scriptedStreamer,
  textAnswer,
  type ScriptedAnswer,
} from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  autoRequest,
  compactOnce,
  see,
  THRESHOLD_TOKENS,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import {
  addTurn,
  madeUpAnswer,
  madeUpQuestion,
} from '#test/support/compaction/conversation-builder.ts';
import { foundIn } from '#test/support/compaction/verifying.ts';
import { overloaded } from '#test/support/model-down.ts';
import { passTime } from '#test/support/pass-time.ts';
import { request } from '#test/support/chat/sending.ts';
import { answered, deadWaiter, textsOf, turnsOf } from '#test/support/chat/starts.ts';

/** A message whose answer failed for now, and a later one that was answered; the wait for the first is over. */
async function failedBehindAnother(...before: readonly ScriptedAnswer[]) {
  const { model, requests } = scriptedStreamer(
    ...before,
    { error: overloaded() },
    textAnswer('Second.'),
    textAnswer('First, at last.'),
    textAnswer('Third.'),
  );
  const bench = compactionBench();
  const chat = chatDependencies({ store: bench.store, clock: bench.clock, model });
  const id = randomUUID();
  const asked = request(id, 'one');
  await expect((await sendMessage(chat, asked)).result).rejects.toMatchObject({ retryable: true });
  await answered(chat, request(id, 'two'));
  bench.clock.advance(1_000);
  return { bench, chat, id, asked, requests };
}

/** Adds turns and folds all but the newest. */
async function foldAll(bench: CompactionBench, id: string) {
  for (let seq = 3; seq < 23; seq++)
    await addTurn(bench.store, id, { user: madeUpQuestion(seq), answer: madeUpAnswer(seq) });
  const conversation = await readConversation(bench.store, id);
  const settings = { thresholdTokens: THRESHOLD_TOKENS };
  const fields = { compactionRequests: autoRequest(), settings };
  const guard = { updateTime: conversation?.updateTime ?? '' };
  await bench.store.commit([{ op: 'update', path: conversationPath(id), fields, guard }]);
  await compactOnce(bench, id);
}

describe('a message that failed for now, sent again when another stands behind it', () => {
  test('a failed message resent after a later one is answered in its place', async () => {
    const { chat, id, asked, requests } = await failedBehindAnother();

    const again = await answered(chat, asked);

    expect(again).toMatchObject({ seq: 1, attempt: 2, state: 'done', inContext: true });
    expect(textsOf([...(requests[2]?.contents ?? [])])).toEqual(['one']);
    expect((await turnsOf(chat, id, 3)).map(({ state }) => state)).toEqual(['done', 'done']);
  });

  test('a failed message answered late stands in its place for later ones', async () => {
    const { chat, id, asked, requests } = await failedBehindAnother();
    await answered(chat, asked);

    await answered(chat, request(id, 'three'));

    const prompt = textsOf([...(requests[3]?.contents ?? [])]);
    expect(prompt).toEqual(['one', 'First, at last.', 'two', 'Second.', 'three']);
  });

  test('a failed message answered late requests the compaction that it makes necessary', async () => {
    const { bench, chat, id, asked } = await failedBehindAnother();
    const conversation = await readConversation(bench.store, id);
    const tokens = conversation?.value.context.tokens ?? 0;
    const settings = { thresholdTokens: tokens + 1 };
    const guard = { updateTime: conversation?.updateTime ?? '' };
    await bench.store.commit([
      { op: 'update', path: conversationPath(id), fields: { settings }, guard },
    ]);

    await answered(chat, asked);

    const after = await readConversation(bench.store, id);
    expect(after?.value.compactionRequests.auto).toMatchObject({ trigger: 'auto' });
    expect(chat.published).toHaveLength(1);
  });

  test('a failed message resent waits for a compaction that may fold it', async () => {
    const { bench, chat, id, asked } = await failedBehindAnother();
    const conversation = await readConversation(bench.store, id);
    const fields = { compactionRequests: autoRequest() };
    const guard = { updateTime: conversation?.updateTime ?? '' };
    await bench.store.commit([{ op: 'update', path: conversationPath(id), fields, guard }]);

    const again = sendMessage(chat, asked);

    await expect(again).rejects.toMatchObject({ retryable: true, retryAfterMs: 5_000 });
    await compactOnce(bench, id);
    expect(await answered(chat, asked)).toMatchObject({ seq: 1, state: 'done' });
  });

  test('a resent message folded meanwhile is answered and stays out of the context', async () => {
    const { bench, chat, id, asked } = await failedBehindAnother();
    await foldAll(bench, id);
    const before = await see(bench.store, id);

    const again = await answered(chat, asked);

    const after = await see(bench.store, id);
    const [turn] = await turnsOf(chat, id, 1);
    expect(before.conversation.coveredThrough.seq).toBeGreaterThan(1);
    expect(again).toMatchObject({ seq: 1, state: 'done', inContext: false });
    expect(after.items).toEqual(before.items);
    expect(after.tokens).toBe(before.tokens);
    expect(turn && exportMessages(turn).map(({ fate }) => fate)).toEqual(['answered', 'answered']);
    expect(await foundIn({ store: bench.store, chat }, id)).toEqual([]);
  });
});

const call = { operation: 'stream', model: 'gemini-2.5-flash', promptId: 't_1' } as const;
test.each([
  ['a defect', new TypeError('a defect'), 2_000],
  [
    'missing credentials',
    translateError(call, new Error('Could not load the default credentials')),
    120_000,
  ],
])(
  'a message that failed without fault is answered when resent after %s',
  async (_name, error, waitMs) => {
    const { model } = scriptedStreamer({ error }, textAnswer('At last.'));
    const clock = createManualClock();
    const chat = chatDependencies({ clock, model });
    const asked = request(randomUUID(), 'one');
    await expect((await sendMessage(chat, asked)).result).rejects.toBeInstanceOf(AppError);
    clock.advance(waitMs);

    expect(await answered(chat, asked)).toMatchObject({ seq: 1, attempt: 2, state: 'done' });
  },
);

test('a resent message whose calls were folded is in the context without its new answer', async () => {
  const functionCall = { name: 'recall_history', args: { query: 'tea' } };
  const { bench, chat, id, asked } = await failedBehindAnother({
    chunks: [{ parts: [{ functionCall }], finishReason: 'STOP' }],
  });
  await foldAll(bench, id);

  const again = await answered(chat, asked);

  expect(again).toMatchObject({ seq: 1, state: 'done' });
  const [turn] = await turnsOf(chat, id, 1);
  const messages = turn ? exportMessages(turn).map(({ message }) => message) : [];
  expect(messages.map(({ role, inContext }) => [role, inContext])).toEqual([
    ['user', true],
    ['model', false],
  ]);
});

test('an unanswered message of a dead instance is answered after another closed it', async () => {
  const { world, chat, id, first, asked } = await deadWaiter();
  world.answerAll();
  await first.result;
  await passTime(world.clock, world.clock.wait(23_000));
  await answered(chat, request(id, 'three'));

  const again = await answered(world.instance(), asked);

  expect(again).toMatchObject({ seq: 2, messageId: asked.message.id, state: 'done' });
  expect((await turnsOf(chat, id, 3)).map(({ state }) => state)).toEqual(['done', 'done', 'done']);
});
