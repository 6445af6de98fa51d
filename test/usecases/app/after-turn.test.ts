import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { RecapApp } from '#functions/app.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import {
  deleteConversation,
  undeleteConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { AFTER_TURNS } from '#shared/hooks/after-turn.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { owner } from '#test/support/chat/lifecycle.ts';
import { request } from '#test/support/chat/sending.ts';
import { sweep, sweepBench } from '#test/support/compaction/compacted-conversation.ts';
import { passTime } from '#test/support/pass-time.ts';

type Step = NonNullable<RecapApp['afterTurn']>;

/** Chat and worker of an app with a step behind turns, on one store and one clock. */
function stepped(step: Step, shutdown?: AbortSignal) {
  const told: { uid: string; user: string; answer: string; model: string | undefined }[] = [];
  const afterTurn: Step = async (answered) => {
    const { uid, turn, model } = answered;
    told.push({ uid, user: turn.user, answer: turn.answer, model });
    await step(answered);
  };
  const clock = createManualClock();
  const { model } = scriptedStreamer(textAnswer('Fine.'));
  const chat = chatDependencies({ model, clock, afterTurn, ...(shutdown && { shutdown }) });
  const worker = sweepBench({ store: chat.store, clock, afterTurn });
  const send = async (conversationId: string) => {
    const { result } = await sendMessage(chat, request(conversationId, 'Hello'));
    await passTime(clock, result);
    await passTime(clock, Promise.all(chat.afterwork));
  };
  const left = () => chat.store.query({ collection: AFTER_TURNS, limit: 10 });
  const sweepAfter = async (ms: number) => {
    clock.advance(ms);
    return sweep(worker);
  };
  return { told, chat, clock, worker, send, left, sweepAfter };
}

const HELLO = { uid: 'u1', user: 'Hello', answer: 'Fine.', model: expect.any(String) };

test('an app’s step behind a turn is told of the answer once it is stored, and nothing is left', async () => {
  const { told, send, left, sweepAfter } = stepped(() => undefined);

  await send(randomUUID());

  expect(told).toEqual([HELLO]);
  expect(await left()).toEqual([]);
  expect(await sweepAfter(3_600_000)).toMatchObject({ afterTurnsRun: 0, failed: 0 });
});

test.each([
  [
    'fails',
    () => {
      throw new Error('no database');
    },
  ],
  ['hangs', () => new Promise<void>(() => undefined)],
])(
  'an app’s step behind a turn that %s does not hold up the answer, and the sweep runs it again',
  async (_, bad) => {
    let runs = 0;
    const { told, send, left, sweepAfter } = stepped(() => (++runs === 1 ? bad() : undefined));

    await send(randomUUID());
    expect(await sweepAfter(30_000)).toMatchObject({ afterTurnsRun: 0 });
    expect(await sweepAfter(60_000)).toMatchObject({ afterTurnsRun: 1 });

    expect(told).toEqual([HELLO, HELLO]);
    expect(await left()).toEqual([]);
  },
);

test('an app’s step behind a turn that never succeeds is given up after twenty tries of the sweep, with an error in the log', async () => {
  const { told, send, left, worker, sweepAfter } = stepped(() => Promise.reject(new Error('no')));

  await send(randomUUID());
  for (let hours = 0; hours < 24 * 7; hours += 7) await sweepAfter(7 * 3_600_000);

  expect(told).toHaveLength(21);
  expect(await left()).toEqual([]);
  expect(worker.logged).toContainEqual(
    expect.objectContaining({ severity: 'ERROR', event: 'after_turn_given_up' }),
  );
});

test('an app’s step behind a turn waits while its conversation is in the bin, and is run once that is back', async () => {
  let runs = 0;
  const { told, chat, send, left, sweepAfter } = stepped(() =>
    ++runs === 1 ? Promise.reject(new Error('no')) : undefined,
  );
  const conversationId = randomUUID();

  await send(conversationId);
  await deleteConversation(chat, { caller: owner, conversationId });
  await sweepAfter(120_000);
  const toldInTheBin = told.length;
  await undeleteConversation(chat, { caller: owner, conversationId });
  await sweepAfter(120_000);

  expect(toldInTheBin).toBe(1);
  expect(told).toEqual([HELLO, HELLO]);
  expect(await left()).toEqual([]);
});

test('what is left behind turns of an app that has no step any more is dropped after a day, not while it may be deployed', async () => {
  const { chat, clock, send, left } = stepped(() => Promise.reject(new Error('no')));
  const worker = sweepBench({ store: chat.store, clock });

  await send(randomUUID());
  clock.advance(3_600_000);
  await sweep(worker);
  expect(await left()).toHaveLength(1);
  clock.advance(24 * 3_600_000);
  await sweep(worker);

  expect(await left()).toEqual([]);
});

test('an app’s step behind a turn is not begun by an instance that ends: the sweep runs it, once', async () => {
  const ending = new AbortController();
  const { told, chat, send, left, sweepAfter } = stepped(() => undefined, ending.signal);
  const { model } = chat;
  const stream: typeof model.stream = (...asked) => {
    ending.abort();
    return model.stream(...asked);
  };
  chat.model = { ...model, stream };

  await send(randomUUID());
  expect(told).toEqual([]);
  expect(await sweepAfter(90_000)).toMatchObject({ afterTurnsRun: 1 });

  expect(told).toEqual([HELLO]);
  expect(await left()).toEqual([]);
});
