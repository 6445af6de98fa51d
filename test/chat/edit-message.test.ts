import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { restoreGeneration } from '../../functions/src/chat/context/restore-generation.ts';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import { createMemoryDocumentStore } from '../../infra/local/embedded/memory-document-store.ts';
import { contentText } from '../../shared/conversation/content.ts';
import { statusPath } from '../../shared/conversation/paths.ts';
import { readHead } from '../../shared/conversation/read-conversation.ts';
import { StoreUnavailableError } from '../../shared/errors.ts';
import { createManualClock } from '../fakes/manual-clock.ts';
import { createScriptedModel, snapshotAnswer } from '../fakes/scripted-model.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat-dependencies.ts';
import { compactionBench } from '../support/compaction-dependencies.ts';
import { autoNeed, buildDue, compactOnce, see } from '../support/compacted-conversation.ts';
import { addTurn, buildConversation } from '../support/conversation-builder.ts';
import { passTime } from '../support/pass-time.ts';
import { edit, shownTexts } from '../support/replacing.ts';
import { request, sendAll } from '../support/sending.ts';
import { historiesOf } from '../support/stored-histories.ts';
import { answered, instances, turnsOf } from '../support/starts.ts';

/** A conversation with three answered messages and their ids. */
async function threeTurns(dependencies = chatDependencies()) {
  const id = randomUUID();
  const sent = ['one', 'two', 'three'].map((text) => request(id, text));
  for (const each of sent) await answered(dependencies, each);
  return { id, dependencies, messageIds: sent.map(({ message }) => message.id) };
}

describe('an edited message', () => {
  test('is answered from what was said before it, in a turn of its own', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ model }));

    const turn = await answered(dependencies, edit(id, messageIds[1] ?? '', 'two, corrected'));

    expect(turn).toMatchObject({ seq: 4, state: 'done', replaces: 2 });
    expect(requests.at(-1)?.contents.map(contentText)).toEqual(['one', 'Fine.', 'two, corrected']);
  });

  test('and all after it leave the context and stay in the transcript, in the next generation', async () => {
    const { id, dependencies, messageIds } = await threeTurns();

    await answered(dependencies, edit(id, messageIds[1] ?? '', 'two, corrected'));

    const turns = await turnsOf(dependencies, id, 4);
    expect(turns.map(({ inContext }) => inContext)).toEqual([true, false, false, true]);
    expect(turns.map(({ user }) => contentText(user))).toEqual([
      'one',
      'two',
      'three',
      'two, corrected',
    ]);
    const head = (await readHead(dependencies.store, id))?.value;
    expect(head).toMatchObject({ generation: 1, changedIn: 1, coveredThrough: { seq: 0 } });
    expect((await historiesOf(dependencies, id)).map(({ fields }) => fields)).toMatchObject([
      { generation: 1, parent: 0, state: 'CHANGED', snapshotText: '' },
    ]);
  });

  test('leaves a context that /context shows as the next prompt contains it', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ model }));
    await answered(dependencies, edit(id, messageIds[0] ?? '', 'one, corrected'));
    const shown = await shownTexts(dependencies, id);

    await sendAll(dependencies, id, ['next']);

    expect(shown).toEqual(['one, corrected', 'Fine.']);
    expect(requests.at(-1)?.contents.map(contentText)).toEqual([...shown, 'next']);
  });

  test('is noticed by another instance that has the old turns in its cache', async () => {
    const store = createMemoryDocumentStore();
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ store, model }));
    const other = chatDependencies({ store });

    await answered(other, edit(id, messageIds[1] ?? '', 'two, corrected'));
    await sendAll(dependencies, id, ['next']);

    expect(requests.at(-1)?.contents.map(contentText)).toEqual([
      'one',
      'Fine.',
      'two, corrected',
      'Fine.',
      'next',
    ]);
  });

  test('tells the owner’s other devices of the new generation', async () => {
    const { id, dependencies, messageIds } = await threeTurns();

    await answered(dependencies, edit(id, messageIds[1] ?? '', 'two, corrected'));

    const [status] = await dependencies.store.get([statusPath(id)]);
    expect(status?.fields).toMatchObject({ generation: 1 });
  });

  test('can be edited again', async () => {
    const { id, dependencies, messageIds } = await threeTurns();
    const again = edit(id, messageIds[1] ?? '', 'second version');
    await answered(dependencies, again);

    const turn = await answered(dependencies, edit(id, again.message.id, 'third version'));

    expect(turn).toMatchObject({ seq: 5, replaces: 4 });
    expect(await shownTexts(dependencies, id)).toEqual(['one', 'Fine.', 'third version', 'Fine.']);
    expect((await readHead(dependencies.store, id))?.value.generation).toBe(2);
  });
});

describe('the same edit sent again', () => {
  test('replays its answer and replaces nothing more', async () => {
    const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
    const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ model }));
    const asked = edit(id, messageIds[1] ?? '', 'two, corrected');
    await answered(dependencies, asked);

    const handle = await sendMessage(dependencies, asked);

    expect(handle).toMatchObject({ turnId: 't_4', replayed: true });
    expect(requests).toHaveLength(4);
    expect((await readHead(dependencies.store, id))?.value.generation).toBe(1);
  });

  test.each([
    ['with another text', { text: 'something else', target: 1 }],
    ['for another message', { text: 'two, corrected', target: 0 }],
    ['as a plain message', { text: 'two, corrected', target: undefined }],
  ])('%s is refused', async (_, { text, target }) => {
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

  test('twenty times at once is one turn and one generation', async () => {
    const { id, dependencies, messageIds } = await threeTurns();
    const asked = edit(id, messageIds[1] ?? '', 'two, corrected');

    const turns = await Promise.all(
      Array.from({ length: 20 }, () => answered(dependencies, asked)),
    );

    expect(new Set(turns.map(({ seq }) => seq))).toEqual(new Set([4]));
    expect((await readHead(dependencies.store, id))?.value).toMatchObject({
      lastSeq: 4,
      generation: 1,
    });
  });

  test('after a lost reply is found to be done', async () => {
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

describe('an edit that is refused', () => {
  test('because the conversation has no such message', async () => {
    const { id, dependencies } = await threeTurns();

    await expect(sendMessage(dependencies, edit(id, randomUUID(), 'x'))).rejects.toMatchObject({
      status: 'NOT_FOUND',
      reason: 'MESSAGE_NOT_FOUND',
    });
  });

  test('because it is an answer', async () => {
    const { id, dependencies } = await threeTurns();

    await expect(sendMessage(dependencies, edit(id, 'm_2', 'x'))).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'NOT_A_USER_MESSAGE',
    });
  });

  test('because the conversation is another user’s, or unknown: the same words', async () => {
    const { id, dependencies, messageIds } = await threeTurns();
    const theirs = edit(id, messageIds[0] ?? '', 'x');
    const caller = { uid: 'another', isAnonymous: false };

    const [foreign, unknown] = await Promise.allSettled([
      sendMessage(dependencies, { ...theirs, caller }),
      sendMessage(dependencies, { ...theirs, conversationId: randomUUID() }),
    ]);

    const publicMessage = expect.any(String);
    const reason = { reason: 'CONVERSATION_NOT_FOUND', publicMessage };
    expect([foreign, unknown]).toMatchObject([{ reason }, { reason }]);
  });

  test('because more turns would be replaced than one batch holds', async () => {
    const dependencies = chatDependencies();
    const { conversationId } = await buildConversation(dependencies.store, { turns: 401 });

    const tooFar = sendMessage(dependencies, edit(conversationId, 'message-1', 'x'));
    await expect(tooFar).rejects.toMatchObject({
      reason: 'EDIT_TOO_FAR_BACK',
      metadata: { replacedTurns: '401', replacedTurnsMax: '400' },
    });

    const turn = await answered(dependencies, edit(conversationId, 'message-2', 'x'));
    expect(turn).toMatchObject({ seq: 402, replaces: 2, state: 'done' });
  });

  test('while its own message is being answered', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    const running = request(id, 'one');
    await sendMessage(chat, running);

    const asked = sendMessage(chat, edit(id, running.message.id, 'one, corrected'));

    await expect(asked).rejects.toMatchObject({ reason: 'TURN_IN_PROGRESS' });
  });
});

describe('an edit while another message is being answered', () => {
  test('waits with onBusy queue and then replaces', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    const running = request(id, 'one');
    const first = await sendMessage(chat, running);

    const asked = { ...edit(id, running.message.id, 'one, corrected'), onBusy: 'queue' as const };
    const handle = await sendMessage(chat, asked);
    world.answerAll();
    await passTime(world.clock, first.result);
    const { turn } = await passTime(world.clock, handle.result);

    expect(turn).toMatchObject({ seq: 2, replaces: 1, state: 'done' });
    expect(world.calls[1]?.request.contents.map(contentText)).toEqual(['one, corrected']);
    expect((await turnsOf(chat, id, 2)).map(({ inContext }) => inContext)).toEqual([false, true]);
  });

  test('cancels that answer with onBusy interrupt and takes its place', async () => {
    const world = instances();
    const chat = world.instance();
    const id = randomUUID();
    const running = request(id, 'one');
    await sendMessage(chat, running);
    await world.called(1);

    const asked = {
      ...edit(id, running.message.id, 'one, corrected'),
      onBusy: 'interrupt' as const,
    };
    const handle = await passTime(world.clock, sendMessage(chat, asked));
    world.answerAll();
    const { turn } = await passTime(world.clock, handle.result);

    expect(turn).toMatchObject({ seq: 2, replaces: 1, state: 'done' });
    expect((await turnsOf(chat, id, 2)).map(({ state, inContext }) => [state, inContext])).toEqual([
      ['cancelled', false],
      ['done', true],
    ]);
  });
});

describe('an edit of a folded turn', () => {
  /** Chat beside the worker; its model reports no tokens, so that the meter counts them. */
  const onlyChat = (bench: ReturnType<typeof compactionBench>) =>
    chatDependencies({
      store: bench.store,
      clock: bench.clock,
      model: scriptedStreamer({ chunks: [{ parts: [{ text: 'Fine.' }], finishReason: 'STOP' }] })
        .model,
    });

  test('goes on without the summary that holds it, and what was before it stands verbatim again', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);

    await answered(onlyChat(bench), edit(conversationId, 'message-3', 'Something else.'));

    const { head, history, items, text } = await see(bench.store, conversationId);
    expect(head).toMatchObject({ generation: 2, coveredThrough: { seq: 0, contentIndex: 0 } });
    expect(history).toMatchObject({ state: 'CHANGED', parent: 1, snapshotText: '' });
    expect(items.map(({ seq }) => seq)).toEqual([1, 1, 2, 2, 21, 21]);
    expect(text).not.toContain('Question 3');
  });

  test('goes back to the newest earlier summary that ends before it', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [snapshotAnswer()] }) });
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    const covered = (await see(bench.store, conversationId)).head.coveredThrough.seq;
    for (let i = 0; i < 20; i++)
      await addTurn(bench.store, conversationId, {
        user: `Later question ${i}?`,
        answer: 'A long answer about the later days of the trip. '.repeat(12),
      });
    await bench.store.commit([
      {
        op: 'update',
        path: `conversations/${conversationId}`,
        fields: { compactionNeeded: autoNeed('request-2') },
        guard: { exists: true },
      },
    ]);
    await compactOnce(bench, conversationId);
    const before = await see(bench.store, conversationId);
    expect(before.head.coveredThrough.seq).toBeGreaterThan(covered + 1);

    await answered(
      onlyChat(bench),
      edit(conversationId, `message-${covered + 1}`, 'Something else.'),
    );

    const { head, history, items } = await see(bench.store, conversationId);
    expect(head).toMatchObject({ generation: 3, coveredThrough: { seq: covered } });
    expect(history).toMatchObject({ state: 'CHANGED', parent: 2 });
    expect(history?.snapshotText).not.toBe('');
    expect(items.map(({ kind }) => kind)).toEqual(['snapshot', 'ack', 'turn', 'turn']);
  });

  test('asks for a compaction at once when what stands again fills the context', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    const { coveredThrough } = (await see(bench.store, conversationId)).head;
    const chat = onlyChat(bench);

    const asked = edit(conversationId, `message-${coveredThrough.seq}`, 'Something else.');
    await answered(chat, asked);

    const { head } = await see(bench.store, conversationId);
    expect(head.compactionNeeded.auto).toMatchObject({ trigger: 'auto' });
    expect(chat.published).toContainEqual({
      topic: 'compaction',
      data: expect.objectContaining({ requestId: head.compactionNeeded.auto?.requestId }),
    });
    expect(await compactOnce(bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
  });

  test('asks for it too where what goes on is a generation that a restore made', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      head: { settings: { thresholdTokens: 2_000 } },
    });
    await compactOnce(bench, conversationId);
    const chat = onlyChat(bench);
    for (const generation of [0, 1])
      await restoreGeneration(chat, {
        caller: { uid: 'u1', isAnonymous: false },
        conversationId,
        generation,
        locale: undefined,
      });
    const { coveredThrough } = (await see(bench.store, conversationId)).head;

    const asked = edit(conversationId, `message-${coveredThrough.seq}`, 'Something else.');
    await answered(chat, asked);

    const { history } = await see(bench.store, conversationId);
    expect(history).toMatchObject({ coveredThrough: { seq: 0 }, afterTokens: 0 });
  });

  test('keeps the summary when the edited turn is behind it', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    const before = await see(bench.store, conversationId);

    await answered(onlyChat(bench), edit(conversationId, 'message-20', 'Something else.'));

    const after = await see(bench.store, conversationId);
    expect(after.head).toMatchObject({
      generation: 2,
      coveredThrough: before.head.coveredThrough,
    });
    expect(after.history?.snapshotText).toBe(before.history?.snapshotText);
    expect(after.text).not.toContain('Question 20');
  });
});

describe('an edit whose instance died', () => {
  const hang = () => new Promise<void>(() => undefined);

  test('after it began is taken over in the generation that it took', async () => {
    const clock = createManualClock();
    const { id, dependencies, messageIds } = await threeTurns(chatDependencies({ clock }));
    const asked = edit(id, messageIds[1] ?? '', 'two, corrected');
    await sendMessage({ ...dependencies, liveTurns: new Map(), atCrashPoint: hang }, asked);
    clock.advance(20_001);

    const turn = await answered(dependencies, asked);

    expect(turn).toMatchObject({ seq: 4, attempt: 2, replaces: 2, state: 'done' });
    expect(await shownTexts(dependencies, id)).toEqual(['one', 'Fine.', 'two, corrected', 'Fine.']);
    expect((await readHead(dependencies.store, id))?.value.generation).toBe(1);
  });

  test('before it told anybody of the compaction that it needs leaves the need in the head', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    const { seq } = (await see(bench.store, conversationId)).head.coveredThrough;
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

    const { head } = await see(bench.store, conversationId);
    expect(head).toMatchObject({ generation: 2, open: { seq: 21 } });
    expect(head.compactionNeeded.auto?.trigger).toBe('auto');
  });
});

describe('an edit while a compaction is at work', () => {
  test('wins: the summary of the old turns is never swapped in', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const chat = chatDependencies({ store: bench.store, clock: bench.clock });
    const held = compactionBench({
      ...bench,
      atCrashPoint: async (point) => {
        if (point === 'verified')
          await answered(chat, edit(conversationId, 'message-18', 'Something else.'));
      },
    });

    const result = await compactOnce(held, conversationId);

    const { head, history, text } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'GENERATION_MOVED' });
    expect(head).toMatchObject({ generation: 1, changedIn: 1 });
    expect(history?.state).toBe('CHANGED');
    expect(text).toContain('Something else.');
    expect(text).not.toContain('Question 18');
  });
});
