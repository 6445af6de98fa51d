import { describe, expect, test } from 'vitest';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import {
  compactionBench,
  geminiCliBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { addTurn } from '#test/support/compaction/conversation-builder.ts';
import { edit } from '#test/support/chat/replacing.ts';
import { answered } from '#test/support/chat/starts.ts';

describe('an edit of a turn in a summary without sources', () => {
  /** Chat beside the worker; its model reports no tokens, so that the meter counts them. */
  const onlyChat = (bench: ReturnType<typeof compactionBench>) =>
    chatDependencies({
      store: bench.store,
      clock: bench.clock,
      model: scriptedStreamer({ chunks: [{ parts: [{ text: 'Fine.' }], finishReason: 'STOP' }] })
        .model,
    });

  test('editing a folded turn drops its summary and restores earlier turns verbatim', async () => {
    const bench = geminiCliBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);

    await answered(onlyChat(bench), edit(conversationId, 'message-3', 'Something else.'));

    const { conversation, history, items, text } = await see(bench.store, conversationId);
    expect(conversation).toMatchObject({
      generation: 2,
      coveredThrough: { seq: 0, contentIndex: 0 },
    });
    expect(history).toMatchObject({ state: 'CHANGED', parent: 1, snapshotText: '' });
    expect(items.map(({ seq }) => seq)).toEqual([1, 1, 2, 2, 21, 21]);
    expect(text).not.toContain('Question 3');
  });

  test('editing a folded turn restores the newest earlier summary that ends before it', async () => {
    const bench = geminiCliBench({ model: createScriptedModel({ answers: [snapshotAnswer()] }) });
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    const covered = (await see(bench.store, conversationId)).conversation.coveredThrough.seq;
    for (let i = 0; i < 20; i++)
      await addTurn(bench.store, conversationId, {
        user: `Later question ${i}?`,
        answer: 'A long answer about the later days of the trip. '.repeat(12),
      });
    await bench.store.commit([
      {
        op: 'update',
        path: `conversations/${conversationId}`,
        fields: { compactionRequests: autoRequest('request-2') },
        guard: { exists: true },
      },
    ]);
    await compactOnce(bench, conversationId);
    const before = await see(bench.store, conversationId);
    expect(before.conversation.coveredThrough.seq).toBeGreaterThan(covered + 1);

    await answered(
      onlyChat(bench),
      edit(conversationId, `message-${covered + 1}`, 'Something else.'),
    );

    const { conversation, history, items } = await see(bench.store, conversationId);
    expect(conversation).toMatchObject({ generation: 3, coveredThrough: { seq: covered } });
    expect(history).toMatchObject({ state: 'CHANGED', parent: 2 });
    expect(history?.snapshotText).not.toBe('');
    expect(items.map(({ kind }) => kind)).toEqual(['snapshot', 'ack', 'turn', 'turn']);
  });

  test('editing a folded turn requests a compaction when the restored turns fill the context', async () => {
    const bench = geminiCliBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    const { coveredThrough } = (await see(bench.store, conversationId)).conversation;
    const chat = onlyChat(bench);

    const asked = edit(conversationId, `message-${coveredThrough.seq}`, 'Something else.');
    await answered(chat, asked);

    const { conversation } = await see(bench.store, conversationId);
    expect(conversation.compactionRequests.auto).toMatchObject({ trigger: 'auto' });
    expect(chat.published).toContainEqual({
      topic: 'compaction',
      data: expect.objectContaining({ requestId: conversation.compactionRequests.auto?.requestId }),
    });
    expect(await compactOnce(bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
  });

  test('editing a folded turn requests a compaction also on a restored generation', async () => {
    const bench = geminiCliBench();
    const conversationId = await buildDue(bench, {
      conversation: { settings: { thresholdTokens: 2_000 } },
    });
    await compactOnce(bench, conversationId);
    const chat = onlyChat(bench);
    for (const generation of [0, 1])
      await restoreGeneration(chat, {
        caller: { uid: 'u1', tier: 'signedIn' },
        conversationId,
        generation,
        locale: undefined,
      });
    const { coveredThrough } = (await see(bench.store, conversationId)).conversation;

    const asked = edit(conversationId, `message-${coveredThrough.seq}`, 'Something else.');
    await answered(chat, asked);

    const { history } = await see(bench.store, conversationId);
    expect(history).toMatchObject({ coveredThrough: { seq: 0 }, afterTokens: 0 });
  });

  test('an edit behind the summary keeps the summary', async () => {
    const bench = geminiCliBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    const before = await see(bench.store, conversationId);

    await answered(onlyChat(bench), edit(conversationId, 'message-20', 'Something else.'));

    const after = await see(bench.store, conversationId);
    expect(after.conversation).toMatchObject({
      generation: 2,
      coveredThrough: before.conversation.coveredThrough,
    });
    expect(after.history?.snapshotText).toBe(before.history?.snapshotText);
    expect(after.text).not.toContain('Question 20');
  });
});

test('an edit wins over a running compaction, whose summary is never swapped in', async () => {
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

  const { conversation, history, text } = await see(bench.store, conversationId);
  expect(result).toMatchObject({ kind: 'retry', reason: 'GENERATION_MOVED' });
  expect(conversation).toMatchObject({ generation: 1, changedIn: 1 });
  expect(history?.state).toBe('CHANGED');
  expect(text).toContain('Something else.');
  expect(text).not.toContain('Question 18');
});
