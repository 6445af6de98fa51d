import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { edit, shownTexts, threeTurns } from '#test/support/chat/replacing.ts';
import { request } from '#test/support/chat/sending.ts';
import { historiesOf } from '#test/support/compaction/stored-histories.ts';
import { answered } from '#test/support/chat/starts.ts';
import { sendAndDie } from '#test/support/chat/streaming.ts';

describe('the same edit sent again', () => {
  test('the same edit sent again replays its answer and replaces nothing more', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ model }));
    const asked = edit(id, messageIds[1] ?? '', 'two, corrected');
    await answered(dependencies, asked);

    const handle = await sendMessage(dependencies, asked);

    expect(handle).toMatchObject({ turnId: 't_4', replayed: true });
    expect(requests).toHaveLength(4);
    expect((await readConversation(dependencies.store, id))?.value.generation).toBe(1);
  });

  test.each([
    ['with another text', { text: 'something else', target: 1 }],
    ['for another message', { text: 'two, corrected', target: 0 }],
    ['as a plain message', { text: 'two, corrected', target: undefined }],
  ])('repeating an edit with %s is refused', async (_, { text, target }) => {
    const { id, dependencies, messageIds } = await threeTurns();
    const asked = edit(id, messageIds[1] ?? '', 'two, corrected');
    await answered(dependencies, asked);
    const plain = request(id, text, asked.message.id);
    const other =
      target === undefined
        ? plain
        : { ...plain, replacing: { kind: 'edit' as const, messageId: messageIds[target] ?? '' } };

    await expect(sendMessage(dependencies, other)).rejects.toMatchObject({
      reason: 'IDEMPOTENCY_KEY_REUSED',
    });
  });

  test('the same edit sent twenty times at once is one turn and one generation', async () => {
    const { id, dependencies, messageIds } = await threeTurns();
    const asked = edit(id, messageIds[1] ?? '', 'two, corrected');

    const turns = await Promise.all(
      Array.from({ length: 20 }, () => answered(dependencies, asked)),
    );

    expect(new Set(turns.map(({ seq }) => seq))).toEqual(new Set([4]));
    expect((await readConversation(dependencies.store, id))?.value).toMatchObject({
      lastSeq: 4,
      generation: 1,
    });
  });

  test('an edit with a lost reply is found to be done', async () => {
    let isLosing = false;
    const store = createMemoryDocumentStore({
      afterCommit: () => {
        const isLost = isLosing;
        isLosing = false;
        return isLost
          ? Promise.reject(new StoreUnavailableError({ operation: 'commit' }))
          : Promise.resolve();
      },
    });
    const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ store }));
    isLosing = true;

    const turn = await answered(dependencies, edit(id, messageIds[1] ?? '', 'two, corrected'));

    expect(turn).toMatchObject({ seq: 4, attempt: 1, state: 'done' });
    expect(await historiesOf(dependencies, id)).toHaveLength(1);
  });
});

describe('an edit whose instance died', () => {
  const hang = () => new Promise<void>(() => undefined);

  test('an edit whose instance died is taken over in its generation', async () => {
    const clock = createManualClock();
    const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ clock }));
    const asked = edit(id, messageIds[1] ?? '', 'two, corrected');
    await sendAndDie(dependencies, asked);
    clock.advance(20_001);

    const turn = await answered(dependencies, asked);

    expect(turn).toMatchObject({ seq: 4, attempt: 2, replaces: 2, state: 'done' });
    expect(await shownTexts(dependencies, id)).toEqual(['one', 'Fine.', 'two, corrected', 'Fine.']);
    expect((await readConversation(dependencies.store, id))?.value.generation).toBe(1);
  });

  test('an edit that died before publishing leaves its compaction request stored', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    const { seq } = (await see(bench.store, conversationId)).conversation.coveredThrough;
    const reached = Promise.withResolvers<void>();
    const chat = chatDependencies({
      store: bench.store,
      clock: bench.clock,
      atCrashPoint: (point) => {
        if (point !== 'replacement-begun') return Promise.resolve();
        reached.resolve();
        return hang();
      },
    });

    void sendMessage(chat, edit(conversationId, `message-${seq}`, 'Something else.'));
    await reached.promise;

    const { conversation } = await see(bench.store, conversationId);
    expect(conversation).toMatchObject({ generation: 2, open: { seq: 21 } });
    expect(conversation.compactionRequests.auto?.trigger).toBe('auto');
  });
});
