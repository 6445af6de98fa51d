import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { chatCrashPoints } from '#functions/lib/crash-points.ts';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { ANSWER_MAX_BYTES } from '#functions/chat/turns/answer/stream-answer.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { createManualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { request } from '#test/support/chat/sending.ts';
import { pass, sayEach, settle, steeredChat } from '#test/support/chat/streaming.ts';

/** A clock that knows how many waits are open. */
function countingClock() {
  const clock = createManualClock();
  let open = 0;
  const counting: ManualClock = {
    ...clock,
    wait: async (ms, signal) => {
      open += 1;
      await clock.wait(ms, signal);
      open -= 1;
    },
  };
  return { clock: counting, open: () => open };
}

test.each(['is answered', 'fails', 'is cancelled'])(
  'no timer outlives a turn that %s',
  async (how) => {
    const { clock, open } = countingClock();
    const conversationId = randomUUID();
    const { dependencies, call } = steeredChat({ clock });
    const handle = await sendMessage(dependencies, request(conversationId, 'x'));
    const model = await call();
    await sayEach(clock, model, ['One ', 'two']);
    expect(open()).toBeGreaterThan(0);

    if (how === 'is answered') model.end();
    if (how === 'fails') model.fail(new Error('no'));
    if (how === 'is cancelled') {
      const caller = { uid: 'u1', tier: 'signedIn' } as const;
      await cancelTurn(dependencies, { caller, conversationId, turnId: 't_1' });
    }
    await handle.result.catch(() => undefined);
    await settle();

    expect(open()).toBe(0);
  },
);

test('an answer over its time limit is a retryable failure', async () => {
  const clock = createManualClock();
  const { dependencies, call } = steeredChat({ clock });
  const handle = await sendMessage(dependencies, request(randomUUID(), 'x'));
  const model = await call();

  await pass(clock, 299_000, 1_000);
  expect(model.signal.aborted).toBe(false);
  await pass(clock, 2_000, 1_000);

  await expect(handle.result).rejects.toMatchObject({ reason: 'MODEL_TIMEOUT', retryable: true });
  expect(model.signal.aborted).toBe(true);
}, 60_000);

test('an endless answer is ended as too long, and stored', async () => {
  const text = 'x'.repeat(256 * 1024);
  const { model } = scriptedStreamer({
    chunks: Array.from({ length: 20 }, () => ({ parts: [{ text }] })),
  });
  const dependencies = chatDependencies({ model });

  const { turn } = await (await sendMessage(dependencies, request(randomUUID(), 'x'))).result;

  expect(turn).toMatchObject({ state: 'done', finishReason: 'MAX_TOKENS' });
  const length = turn.contents.map(contentText).join('').length;
  expect(length).toBeGreaterThan(ANSWER_MAX_BYTES / 2);
  expect(length).toBeLessThanOrEqual(ANSWER_MAX_BYTES);
});

test('an answered turn passes its crash points in order', async () => {
  const clock = createManualClock();
  const passed: string[] = [];
  const { dependencies, call } = steeredChat({
    clock,
    atCrashPoint: (point) => {
      passed.push(point);
      return Promise.resolve();
    },
  });
  const handle = await sendMessage(dependencies, request(randomUUID(), 'x'));
  const model = await call();
  model.say('x'.repeat(2_000));
  await pass(clock, 600);
  model.end();
  await handle.result;

  expect(passed).toEqual([
    'turn-reserved',
    'turn-started',
    'before-flush',
    'flushed',
    'answer-streamed',
    'before-finish',
    'turn-finished',
    'turn-published',
  ]);
  expect(Object.keys(chatCrashPoints)).toEqual(expect.arrayContaining(passed));
});
