import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { cancelTurn, requestCancel } from '../../functions/src/chat/answer/cancel-turn.ts';
import type { ChatDependencies } from '../../functions/src/chat/chat-dependencies.ts';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import { createMemoryDocumentStore } from '../../infra/local/embedded/memory-document-store.ts';
import { contentText } from '../../shared/conversation/content.ts';
import { readHead } from '../../shared/conversation/read-conversation.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat-dependencies.ts';
import { collect, request, sendAll, textOf } from '../support/sending.ts';
import {
  pass,
  openStream,
  sayEach,
  settle,
  silentModel,
  steeredChat,
  storedTurn,
  typesOf,
} from '../support/streaming.ts';

const caller = { uid: 'u1', isAnonymous: false };
const cancel = (dependencies: ChatDependencies, conversationId: string, seq = 1) =>
  cancelTurn(dependencies, { caller, conversationId, turnId: `t_${seq}` });

/** An answer of which two words have been said. */
async function halfSaid(overrides: Partial<ChatDependencies> = {}) {
  const clock = createManualClock();
  const store = createMemoryDocumentStore();
  const conversationId = randomUUID();
  const chat = steeredChat({ clock, store, ...overrides });
  const send = request(conversationId, 'Tell me.');
  const handle = await sendMessage(chat.dependencies, send);
  const frames = collect(handle.frames());
  const call = await chat.call();
  await sayEach(clock, call, ['Half an ', 'answer']);
  return { ...chat, clock, store, conversationId, send, handle, frames, call };
}

describe('cancelling a running turn', () => {
  test('of this instance stops the model and answers with the cancelled turn', async () => {
    const { dependencies, conversationId, call } = await halfSaid();

    const turn = await cancel(dependencies, conversationId);

    expect(call.signal.aborted).toBe(true);
    expect(turn).toMatchObject({ state: 'cancelled', inContext: true, cancelRequested: true });
    expect(turn.contents.map(contentText)).toEqual(['Half an answer']);
  });

  test('ends its stream with the text’s end, the context, abort and finish', async () => {
    const { dependencies, conversationId, frames } = await halfSaid();

    await cancel(dependencies, conversationId);

    expect(typesOf(await frames).slice(-4)).toEqual([
      'text-end',
      'data-context',
      'abort',
      'finish',
    ]);
    expect((await frames).at(-1)?.chunk).toMatchObject({ finishReason: 'other' });
    expect(textOf(await frames)).toBe('Half an answer');
  });

  test('replays the same to one who sends it again, without a model call', async () => {
    const { dependencies, conversationId, send, frames, calls } = await halfSaid();
    await cancel(dependencies, conversationId);

    const again = await sendMessage(dependencies, send);

    const replayed = await collect(again.frames());
    expect(textOf(replayed)).toBe('Half an answer');
    expect(replayed.at(-1)).toEqual((await frames).at(-1));
    expect((await again.result).turn.state).toBe('cancelled');
    expect(calls).toHaveLength(1);
  });

  test('leaves what was said in the context of the next message', async () => {
    const { dependencies, store, clock, conversationId } = await halfSaid();
    await cancel(dependencies, conversationId);
    const { model, requests } = scriptedStreamer(textAnswer('Next.'));

    await sendAll(chatDependencies({ store, clock, model }), conversationId, ['Go on.']);

    expect(requests[0]?.contents.map(contentText)).toEqual([
      'Tell me.',
      'Half an answer',
      'Go on.',
    ]);
  });

  test('before its first word leaves it out of the context', async () => {
    const clock = createManualClock();
    const conversationId = randomUUID();
    const chat = steeredChat({ clock });
    await sendMessage(chat.dependencies, request(conversationId, 'Tell me.'));
    await chat.call();

    const turn = await cancel(chat.dependencies, conversationId);

    expect(turn).toMatchObject({ state: 'cancelled', inContext: false, contents: [] });
  });

  test('of another instance ends it within a second, in silence', async () => {
    const { store, clock, conversationId, handle, frames } = await halfSaid();
    await pass(clock, 3_000, 100);
    const other = chatDependencies({ store, clock });

    const asked = await cancel(other, conversationId);
    expect(asked).toMatchObject({ state: 'running', cancelRequested: true });
    await pass(clock, 1_000, 100);

    expect((await handle.result).turn.state).toBe('cancelled');
    expect(textOf(await frames)).toBe('Half an answer');
  });

  test('of another instance ends it within a second while the model speaks', async () => {
    const { store, clock, conversationId, handle, call } = await halfSaid();
    const other = chatDependencies({ store, clock });

    await cancel(other, conversationId);
    for (let i = 0; i < 20; i++) await sayEach(clock, call, ['word ']);
    await pass(clock, 200);

    expect((await handle.result).turn.state).toBe('cancelled');
  });

  test('whose instance died is closed as cancelled for its sender, without a model call', async () => {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const conversationId = randomUUID();
    const send = request(conversationId, 'Tell me.');
    const dead = chatDependencies({
      store,
      clock,
      atCrashPoint: () => new Promise(() => undefined),
    });
    await sendMessage(dead, send);
    await requestCancel(chatDependencies({ store, clock }), { conversationId, seq: 1 });
    clock.advance(20_001);

    const alive = chatDependencies({ store, clock, model: silentModel() });
    const { turn } = await (await sendMessage(alive, send)).result;

    expect(turn).toMatchObject({ state: 'cancelled', attempt: 1, inContext: false });
  });

  test('that nobody answers any more ends it at once', async () => {
    const store = createMemoryDocumentStore();
    const clock = createManualClock();
    const conversationId = randomUUID();
    const dead = chatDependencies({
      store,
      clock,
      atCrashPoint: () => new Promise(() => undefined),
    });
    await sendMessage(dead, request(conversationId, 'Tell me.'));
    clock.advance(20_001);

    const turn = await cancel(chatDependencies({ store, clock }), conversationId);

    expect(turn).toMatchObject({ state: 'cancelled', inContext: false });
    expect((await readHead(store, conversationId))?.value.open).toBeUndefined();
  });

  test('is not stopped by the reader’s leaving', async () => {
    const { conversationId, dependencies, handle, call } = await halfSaid();
    for await (const frame of handle.frames()) if (frame.id === 1) break;

    call.say(' and the rest');
    call.end();

    expect((await handle.result).turn.state).toBe('done');
    const turn = await storedTurn(dependencies, conversationId);
    expect(turn.contents.map(contentText)).toEqual(['Half an answer and the rest']);
  });
});

describe('cancelling a turn whose instance died in mid-answer', () => {
  /** Two words are said and stored; then nobody answers any more. */
  async function died() {
    let isDead = false;
    const chat = await halfSaid({
      atCrashPoint: () => (isDead ? new Promise(() => undefined) : Promise.resolve()),
    });
    const { store, clock } = chat;
    await pass(clock, 600);
    isDead = true;
    chat.call.say('!'.repeat(2_000));
    await settle();
    const alive = chatDependencies({ store, clock, model: silentModel() });
    return { ...chat, alive };
  }
  const partial = { state: 'cancelled', attempt: 1, inContext: true };

  test('keeps what it had said, and replays it', async () => {
    const { alive, clock, conversationId, send } = await died();
    clock.advance(20_001);

    const turn = await cancel(alive, conversationId);

    expect(turn).toMatchObject(partial);
    expect(turn.tokens.answer).toBeGreaterThan(0);
    expect(turn.contents.map(contentText)).toEqual(['Half an answer']);
    const again = await sendMessage(alive, send);
    expect(textOf(await collect(again.frames()))).toBe('Half an answer');
  });

  test('keeps it when the sender comes back after the cancellation', async () => {
    const { alive, clock, conversationId, send } = await died();
    await requestCancel(alive, { conversationId, seq: 1 });
    clock.advance(20_001);

    const { turn } = await (await sendMessage(alive, send)).result;

    expect(turn).toMatchObject(partial);
    expect(turn.contents.map(contentText)).toEqual(['Half an answer']);
  });

  test.each([undefined, 'queue', 'interrupt'] as const)(
    'keeps it in the context of the next message (onBusy %s)',
    async (onBusy) => {
      const { store, clock, conversationId, alive } = await died();
      await requestCancel(alive, { conversationId, seq: 1 });
      const { model, requests } = scriptedStreamer(textAnswer('Next.'));
      const next = chatDependencies({ store, clock, model });
      if (onBusy === undefined) clock.advance(20_001);

      const sent = sendMessage(next, {
        ...request(conversationId, 'Go on.'),
        ...(onBusy && { onBusy }),
      });
      await pass(clock, 25_000, 500);
      await (
        await sent
      ).result;

      expect(requests[0]?.contents.map(contentText)).toEqual([
        'Tell me.',
        'Half an answer',
        'Go on.',
      ]);
      expect(await storedTurn(next, conversationId)).toMatchObject(partial);
    },
  );

  test('says nothing when its chunks are purged', async () => {
    const { alive, store, clock, conversationId } = await died();
    clock.advance(20_001);
    await store.deleteBelow(`conversations/${conversationId}/streams/t_1`);

    const turn = await cancel(alive, conversationId);

    expect(turn).toMatchObject({ state: 'cancelled', inContext: false, contents: [] });
  });
});

describe('cancelling a turn that has ended', () => {
  test('by cancellation gives it again', async () => {
    const { dependencies, conversationId } = await halfSaid();
    const first = await cancel(dependencies, conversationId);

    expect(await cancel(dependencies, conversationId)).toEqual(first);
  });

  test.each([
    ['an answer', textAnswer('Done.')],
    ['a failure', { error: new Error('no') }],
  ])('by %s is refused and changes nothing', async (_, answer) => {
    const dependencies = chatDependencies({ model: scriptedStreamer(answer).model });
    const conversationId = randomUUID();
    const handle = await sendMessage(dependencies, request(conversationId, 'x'));
    await handle.result.catch(() => undefined);
    const before = await storedTurn(dependencies, conversationId);

    await expect(cancel(dependencies, conversationId)).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'TURN_FINISHED',
    });

    expect(await storedTurn(dependencies, conversationId)).toEqual(before);
  });

  test.each([
    { turnId: 't_9', uid: 'u1', reason: 'TURN_NOT_FOUND' },
    { turnId: 't_1', uid: 'u2', reason: 'CONVERSATION_NOT_FOUND' },
  ])('$turnId of $uid finds none', async ({ turnId, uid, reason }) => {
    const { dependencies, conversationId } = await halfSaid();
    const stranger = { uid, isAnonymous: false };

    await expect(
      cancelTurn(dependencies, { caller: stranger, conversationId, turnId }),
    ).rejects.toMatchObject({ reason });
  });
});

test('a queued turn is cancelled at once, keeps its place and its readers see the abort', async () => {
  const { dependencies, store, conversationId, clock, call, handle } = await halfSaid();
  const queued = { ...request(conversationId, 'Wait.'), onBusy: 'queue' as const };
  const waiting = await sendMessage(dependencies, queued);
  await settle();
  const reader = collect(await openStream(dependencies, { conversationId, seq: 2 }));

  const turn = await cancel(dependencies, conversationId, 2);
  await pass(clock, 2_000, 100);

  expect(turn).toMatchObject({ seq: 2, state: 'cancelled', inContext: false });
  expect(typesOf(await reader)).toEqual(['start', 'data-context', 'abort', 'finish']);
  expect((await waiting.result).turn.state).toBe('cancelled');
  expect((await readHead(store, conversationId))?.value.open?.seq).toBe(1);
  call.end();
  expect((await handle.result).turn.state).toBe('done');
});
