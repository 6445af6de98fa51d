import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { slowWrites } from '#test/fakes/slow-writes.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { cancel, halfSaid } from '#test/support/chat/cancelling.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { collect, request, sendAll, textOf } from '#test/support/chat/sending.ts';
import {
  pass,
  openStream,
  sayEach,
  settle,
  steeredChat,
  storedTurn,
  typesOf,
} from '#test/support/chat/streaming.ts';

describe('cancelling a running turn', () => {
  test('cancelling this instance’s running turn stops the model and returns the turn', async () => {
    const { dependencies, conversationId, call } = await halfSaid();

    const turn = await cancel(dependencies, conversationId);

    expect(call.signal.aborted).toBe(true);
    expect(turn).toMatchObject({ state: 'cancelled', inContext: true, cancelRequested: true });
    expect(turn.contents.map(contentText)).toEqual(['Half an answer']);
  });

  test('a cancellation is answered when the turn has ended, however long that takes', async () => {
    const { dependencies, conversationId } = await halfSaid({
      store: createMemoryDocumentStore(slowWrites()),
    });

    const turn = await cancel(dependencies, conversationId);

    expect(turn.state).toBe('cancelled');
  });

  test('cancelling a running turn ends its stream with text end, context, abort and finish', async () => {
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

  test('a cancelled turn replays the same when resent, without a model call', async () => {
    const { dependencies, conversationId, send, frames, calls } = await halfSaid();
    await cancel(dependencies, conversationId);

    const again = await sendMessage(dependencies, send);

    const replayed = await collect(again.frames());
    expect(textOf(replayed)).toBe('Half an answer');
    expect(replayed.at(-1)).toEqual((await frames).at(-1));
    expect((await again.result).turn.state).toBe('cancelled');
    expect(calls).toHaveLength(1);
  });

  test('a cancelled turn leaves its text in the next message’s context', async () => {
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

  test('a turn cancelled before its first word stays out of the context', async () => {
    const clock = createManualClock();
    const conversationId = randomUUID();
    const chat = steeredChat({ clock });
    await sendMessage(chat.dependencies, request(conversationId, 'Tell me.'));
    await chat.call();

    const turn = await cancel(chat.dependencies, conversationId);

    expect(turn).toMatchObject({ state: 'cancelled', inContext: false, contents: [] });
  });

  test('cancelling another instance’s turn ends it within a second of silence', async () => {
    const { store, clock, conversationId, handle, frames } = await halfSaid();
    await pass(clock, 3_000, 100);
    const other = chatDependencies({ store, clock });

    const asked = await cancel(other, conversationId);
    expect(asked).toMatchObject({ state: 'running', cancelRequested: true });
    await pass(clock, 1_000, 100);

    expect((await handle.result).turn.state).toBe('cancelled');
    expect(textOf(await frames)).toBe('Half an answer');
  });

  test('cancelling another instance’s turn ends it within a second while the model speaks', async () => {
    const { store, clock, conversationId, handle, call } = await halfSaid();
    const other = chatDependencies({ store, clock });

    await cancel(other, conversationId);
    for (let i = 0; i < 20; i++) await sayEach(clock, call, ['word ']);
    await pass(clock, 200);

    expect((await handle.result).turn.state).toBe('cancelled');
  });

  test('cancelling a turn is not stopped by the reader leaving', async () => {
    const { conversationId, dependencies, handle, call } = await halfSaid();
    for await (const frame of handle.frames()) if (frame.id === 1) break;

    call.say(' and the rest');
    call.end();

    expect((await handle.result).turn.state).toBe('done');
    const turn = await storedTurn(dependencies, conversationId);
    expect(turn.contents.map(contentText)).toEqual(['Half an answer and the rest']);
  });
});

describe('cancelling a turn that has ended', () => {
  test('cancelling a cancelled turn returns it again', async () => {
    const { dependencies, conversationId } = await halfSaid();
    const first = await cancel(dependencies, conversationId);

    expect(await cancel(dependencies, conversationId)).toEqual(first);
  });

  test.each([
    ['an answer', textAnswer('Done.')],
    ['a failure', { error: new Error('no') }],
  ])('cancelling a turn ended by %s is refused and changes nothing', async (_, answer) => {
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
  ])('cancelling $turnId of $uid finds no turn', async ({ turnId, uid, reason }) => {
    const { dependencies, conversationId } = await halfSaid();
    const stranger = { uid, tier: 'signedIn' } as const;

    await expect(
      cancelTurn(dependencies, { caller: stranger, conversationId, turnId }),
    ).rejects.toMatchObject({ reason });
  });
});

test('cancelling a queued turn is immediate, keeps its place and shows readers the abort', async () => {
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
  expect((await readConversation(store, conversationId))?.value.open?.seq).toBe(1);
  call.end();
  expect((await handle.result).turn.state).toBe('done');
});
