import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { restoreGeneration } from '../../functions/src/chat/context/restore-generation.ts';
import { deleteMessage } from '../../functions/src/chat/conversation/delete-message.ts';
import { listMessages } from '../../functions/src/chat/conversation/list-messages.ts';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import { showContext } from '../../functions/src/chat/context/show-context.ts';
import { finishErasure } from '../../functions/src/erasure/finish-erasure.ts';
import {
  chunkPath,
  historyPath,
  messageGuardPath,
  turnPath,
} from '../../shared/conversation/paths.ts';
import { readTurns } from '../../shared/conversation/read-conversation.ts';
import { compactionBench } from '../support/compaction-dependencies.ts';
import { compactOnce, manualNeed, see } from '../support/compacted-conversation.ts';
import { buildConversation } from '../support/conversation-builder.ts';
import { historiesOf } from '../support/stored-histories.ts';
import {
  CANARY,
  canaries,
  compactAgain,
  compacted,
  dyingAt,
  lifecycle,
  owner,
  setHead,
  stranger,
  type Lifecycle,
} from '../support/lifecycle.ts';

const remove = ({ chat }: Pick<Lifecycle, 'chat'>, conversationId: string, messageId: string) =>
  deleteMessage(chat, { caller: owner, conversationId, messageId });

const shortConversation = async ({ store }: Lifecycle) =>
  (
    await buildConversation(store, {
      turns: [{}, { user: `I say ${CANARY}.`, answer: `You said ${CANARY}.` }, {}],
    })
  ).conversationId;

describe('deleting a message of the tail', () => {
  test('wipes question and answer and keeps their places', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);

    const view = await remove(world, conversationId, 'message-2');

    const page = {
      caller: owner,
      conversationId,
      pageSize: 10,
      order: 'asc',
      afterSeq: 0,
    } as const;
    const { messages } = await listMessages(world.chat, page);
    expect(view).toMatchObject({ id: 'message-2', seq: 2, parts: [], deleted: true });
    expect(messages.map(({ id, deleted }) => [id, deleted ?? false])).toEqual([
      ['message-1', false],
      ['m_1', false],
      ['message-2', true],
      ['m_2', true],
      ['message-3', false],
      ['m_3', false],
    ]);
    expect(await canaries(world)).toEqual([]);
  });

  test('takes it out of the context and the meter', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    const before = await see(world.store, conversationId);

    await remove(world, conversationId, 'message-2');

    const after = await see(world.store, conversationId);
    expect(after.items.map(({ seq }) => seq)).toEqual([1, 1, 3, 3]);
    expect(after.tokens).toBeLessThan(before.tokens);
    expect(after.head).toMatchObject({ generation: 1, changedIn: 1, lastSeq: 3 });
    expect(after.head.pendingErasure).toBeUndefined();
  });

  test('of the answer alone keeps the question, out of the context', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);

    const view = await remove(world, conversationId, 'm_2');

    const page = {
      caller: owner,
      conversationId,
      pageSize: 10,
      order: 'asc',
      afterSeq: 1,
    } as const;
    const { messages } = await listMessages(world.chat, page);
    expect(view).toMatchObject({ id: 'm_2', parts: [], deleted: true });
    expect(messages[0]).toMatchObject({ parts: [{ text: `I say ${CANARY}.` }], inContext: false });
    expect(messages[0]?.deleted).toBeUndefined();
    expect((await see(world.store, conversationId)).items.map(({ seq }) => seq)).toEqual([
      1, 1, 3, 3,
    ]);
  });

  test('of the answer alone keeps a question that takes more than one document', async () => {
    const world = lifecycle();
    const user = `${CANARY} `.repeat(40_000);
    const answer = 'a long answer '.repeat(40_000);
    const { conversationId } = await buildConversation(world.store, {
      turns: [{ user, answer }, {}],
    });

    await remove(world, conversationId, 'm_1');

    const [turn] = await readTurns(world.store, conversationId, [1]);
    expect(turn?.value).toMatchObject({ user: { parts: [{ text: user }] }, contents: [] });
    const pieces = (await world.documents()).filter(({ path }) => path.includes('/parts/'));
    expect(pieces.map(({ path }) => path.split('/').at(-1))).toEqual(['u-1']);
    await remove(world, conversationId, 'message-1');
    expect(await canaries(world)).toEqual([]);
  });

  test('after its answer wipes the question too', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    await remove(world, conversationId, 'm_2');

    await remove(world, conversationId, 'message-2');

    expect(await canaries(world)).toEqual([]);
  });

  test('twice is the same as once', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    const first = await remove(world, conversationId, 'message-2');

    const second = await remove(world, conversationId, 'message-2');

    expect(second).toEqual(first);
    expect((await see(world.store, conversationId)).head.generation).toBe(1);
  });

  test('whose reply is lost is found by its nonce', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    world.loseReplyOf(({ path }) => path === historyPath(conversationId, 1));

    const view = await remove(world, conversationId, 'message-2');

    expect(view).toMatchObject({ deleted: true });
    expect((await see(world.store, conversationId)).head.generation).toBe(1);
  });

  test('that failed wipes it and leaves the summaries alone', async () => {
    const world = lifecycle();
    const turns = Array.from({ length: 20 }, (_, i) =>
      i === 2 ? { user: 'Broken.', state: 'failed' as const, inContext: false } : {},
    );
    const conversationId = await compacted(world, { turns });
    const before = await see(world.store, conversationId);

    await remove(world, conversationId, 'message-3');

    const after = await see(world.store, conversationId);
    expect(after.history?.snapshotText).toBe(before.history?.snapshotText);
    expect(after.history?.snapshotText).not.toBe('');
    const [first] = await historiesOf(world, conversationId);
    expect(first?.fields['erased']).toBeUndefined();
  });

  test('takes the pins along that came from it', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    const pin = { text: CANARY, source: 'detected' };
    await setHead(world, conversationId, {
      pins: [
        { id: 'p1', ...pin, seq: 2 },
        { id: 'p2', text: 'stays', source: 'api' },
      ],
    });

    await remove(world, conversationId, 'message-2');

    expect((await see(world.store, conversationId)).head.pins).toMatchObject([{ id: 'p2' }]);
    expect(await canaries(world)).toEqual([]);
  });

  test('takes overflow pieces and the chunks of its stream along', async () => {
    const world = lifecycle();
    const { store } = world;
    const { conversationId } = await buildConversation(store, {
      turns: [{ user: `${CANARY} `.repeat(40_000), answer: `${CANARY}! `.repeat(40_000) }],
    });
    const chunk = chunkPath({ conversationId, seq: 1 }, { attempt: 1, n: 1 });
    await store.commit([{ op: 'create', path: chunk, fields: { text: CANARY } }]);
    expect((await canaries(world)).length).toBeGreaterThan(3);

    await remove(world, conversationId, 'message-1');

    expect(await canaries(world)).toEqual([]);
  });
});

describe('deleting a message that a summary covers', () => {
  test('goes back to what was before it, and erases every summary that told of it', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await compactAgain(world, conversationId);
    expect((await canaries(world)).length).toBeGreaterThan(2);

    await remove(world, conversationId, 'message-3');

    const { head, history, text } = await see(world.store, conversationId);
    expect(head).toMatchObject({ generation: 3, coveredThrough: { seq: 0 } });
    expect(history).toMatchObject({ state: 'CHANGED', changedFromSeq: 3, snapshotText: '' });
    expect(text).toContain('Question 1:');
    expect(await canaries(world)).toEqual([]);
    const histories = await historiesOf(world, conversationId);
    expect(histories.map(({ fields }) => fields['erased'])).toEqual([true, true, undefined]);
  });

  test('keeps the newest summary that ends before it', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const first = await see(world.store, conversationId);
    await compactAgain(world, conversationId);
    const { seq } = first.head.coveredThrough;

    await remove(world, conversationId, `message-${seq + 1}`);

    const { head, history } = await see(world.store, conversationId);
    expect(head.coveredThrough.seq).toBe(seq);
    expect(history?.snapshotText).toBe(first.history?.snapshotText);
  });

  test('asks for a new compaction where the turns are over the threshold again', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    await remove(world, conversationId, 'message-3');

    const { head } = await see(world.store, conversationId);
    expect(head.compactionNeeded.auto).toMatchObject({ trigger: 'auto' });
    expect(world.chat.published).toHaveLength(1);
    await compactOnce(world.bench, conversationId);
    expect((await see(world.store, conversationId)).head.generation).toBe(3);
  });

  test('asks for it too where what goes on is a generation that a restore made', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world, {
      head: { settings: { thresholdTokens: 2_000 } },
    });
    for (const generation of [0, 1])
      await restoreGeneration(world.chat, {
        caller: owner,
        conversationId,
        generation,
        locale: undefined,
      });
    await compactAgain(world, conversationId, 3);

    await remove(world, conversationId, 'message-3');

    const { head, history } = await see(world.store, conversationId);
    expect(history).toMatchObject({ coveredThrough: { seq: 0 }, afterTokens: 0 });
    expect(head.compactionNeeded.auto).toMatchObject({ trigger: 'auto' });
    expect(await compactOnce(world.bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
  });

  test('asks for it too where a person has asked for a compaction', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await setHead(world, conversationId, { compactionNeeded: { ...manualNeed('by-hand') } });

    await remove(world, conversationId, 'message-3');

    const { head } = await see(world.store, conversationId);
    expect(head.compactionNeeded).toMatchObject({
      auto: { trigger: 'auto' },
      manual: { requestId: 'by-hand' },
    });
  });

  test('makes a worker lose that has read it', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await setHead(world, conversationId, { compactionNeeded: { ...manualNeed('in-flight') } });
    const held = compactionBench({
      ...world.bench,
      atCrashPoint: async (name) => {
        if (name === 'verified') await remove(world, conversationId, 'message-3');
      },
    });

    await compactOnce(held, conversationId);

    expect(await canaries(world)).toEqual([]);
    expect((await see(world.store, conversationId)).head.coveredThrough.seq).toBe(0);
  });

  test('shows nothing of it from the cache of another instance', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await compactAgain(world, conversationId);
    const show = (generation?: number) =>
      showContext(world.otherChat, { caller: owner, conversationId, generation });
    await show();
    expect(JSON.stringify(await show(1))).toContain(CANARY);

    await remove(world, conversationId, 'message-3');

    for (const generation of [undefined, 0])
      expect(JSON.stringify(await show(generation))).not.toContain(CANARY);
    for (const generation of [1, 2])
      await expect(show(generation)).rejects.toMatchObject({
        status: 'FAILED_PRECONDITION',
        reason: 'GENERATION_ERASED',
        metadata: { generation: String(generation) },
      });
  });

  test('leaves a compaction after it untouched when it is finished late', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const dying = { chat: { ...world.chat, ...dyingAt('message-wiped') } };
    await expect(remove(dying, conversationId, 'message-3')).rejects.toThrow('died');
    await compactOnce(world.bench, conversationId);
    const before = await see(world.store, conversationId);
    expect(before.head.generation).toBe(3);

    await finishErasure(world.chat, conversationId);

    const after = await see(world.store, conversationId);
    expect(after.history).toEqual(before.history);
    expect(after.head.pendingErasure).toBeUndefined();
  });
});

describe('what cannot be deleted', () => {
  test.each(['message-9', 'm_9', 'm_2', randomUUID()])('an unknown message: %s', async (id) => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, {
      turns: [{}, { state: 'failed', answer: [] }],
    });

    await expect(remove(world, conversationId, id)).rejects.toMatchObject({
      status: 'NOT_FOUND',
      reason: 'MESSAGE_NOT_FOUND',
    });
  });

  test.each(['running', 'queued'])('a message whose turn is %s', async (state) => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    const path = turnPath(conversationId, 2);
    await world.store.commit([{ op: 'update', path, fields: { state }, guard: { exists: true } }]);

    await expect(remove(world, conversationId, 'message-2')).rejects.toMatchObject({
      status: 'ABORTED',
      reason: 'TURN_IN_PROGRESS',
    });
  });

  test('a message of somebody else, told as if it were not there', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    const request = { caller: stranger, conversationId, messageId: 'message-2' };

    await expect(deleteMessage(world.chat, request)).rejects.toMatchObject({
      reason: 'CONVERSATION_NOT_FOUND',
    });
  });
});

describe('the id of a deleted message', () => {
  test('asks the model nothing when it comes again, whatever it says', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    await remove(world, conversationId, 'message-2');
    const message = { id: 'message-2', parts: [{ text: 'Something else.' }] };

    const handle = await sendMessage(world.chat, { caller: owner, conversationId, message });

    const { turn, replayed } = await handle.result;
    expect(replayed).toBe(true);
    expect(turn).toMatchObject({ seq: 2, contents: [], user: { parts: [] } });
    expect((await see(world.store, conversationId)).head.lastSeq).toBe(3);
  });

  test('of a failed one that could have been tried again is not tried again', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, {
      turns: [{ state: 'failed', answer: [] }],
    });
    const error = {
      status: 'UNAVAILABLE',
      reason: 'MODEL_OVERLOADED',
      message: '',
      retryable: true,
    };
    const path = turnPath(conversationId, 1);
    await world.store.commit([{ op: 'update', path, fields: { error }, guard: { exists: true } }]);
    await remove(world, conversationId, 'message-1');
    const message = { id: 'message-1', parts: [{ text: 'Again.' }] };

    const handle = await sendMessage(world.chat, { caller: owner, conversationId, message });

    await expect(handle.result).rejects.toMatchObject({ reason: 'MODEL_OVERLOADED' });
    const [guard] = await world.store.get([messageGuardPath(conversationId, 'message-1')]);
    expect(guard?.fields['bodyHash']).toBe('');
  });
});
