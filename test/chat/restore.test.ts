import { describe, expect, test } from 'vitest';
import { restoreGeneration } from '../../functions/src/chat/context/restore-generation.ts';
import { showContext } from '../../functions/src/chat/context/show-context.ts';
import { deleteMessage } from '../../functions/src/chat/conversation/delete-message.ts';
import { compactionBench, rewriteBench } from '../support/compaction-dependencies.ts';
import { buildDue, compactOnce, manualNeed, see } from '../support/compacted-conversation.ts';
import { historyPath, statusPath } from '../../shared/conversation/paths.ts';
import { historiesOf } from '../support/stored-histories.ts';
import {
  compactAgain,
  compacted,
  dyingAt,
  lifecycle,
  owner,
  setHead,
  stranger,
  type Lifecycle,
} from '../support/lifecycle.ts';

const restore = (
  { chat }: Pick<Lifecycle, 'chat'>,
  conversationId: string,
  ...[generation, requestId]: [generation: number, requestId?: string]
) =>
  restoreGeneration(chat, {
    caller: owner,
    conversationId,
    generation,
    requestId,
    locale: undefined,
  });

describe('restoring a generation', () => {
  test('0 makes every turn stand word for word again', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    const record = await restore(world, conversationId, 0);

    const { head, items, text } = await see(world.store, conversationId);
    expect(record).toMatchObject({ state: 'RESTORED', generation: 2, restoredFrom: 0, upTo: 0 });
    expect(record.message).toContain('in use again');
    expect(head).toMatchObject({ generation: 2, coveredThrough: { seq: 0 }, changedIn: 2 });
    expect(new Set(items.map(({ seq }) => seq)).size).toBe(21);
    expect(text).toContain('Question 1:');
  });

  test('an earlier one brings its snapshot back and keeps later turns word for word', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const before = await see(world.store, conversationId);
    await compactAgain(world, conversationId);

    const record = await restore(world, conversationId, 1);

    const { head, history, items } = await see(world.store, conversationId);
    expect(record).toMatchObject({ generation: 3, restoredFrom: 1 });
    expect(head.coveredThrough).toEqual(before.head.coveredThrough);
    expect(history?.snapshotText).toBe(before.history?.snapshotText);
    const seqs = new Set(items.flatMap(({ seq }) => seq ?? []));
    expect(seqs.size).toBe(head.lastSeq - head.coveredThrough.seq);
  });

  test('costs nothing, whatever the generation cost that comes back', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const { history: compaction } = await see(world.store, conversationId);

    const record = await restore(world, conversationId, 0);
    const again = await restore(world, conversationId, 1);

    expect(compaction?.costMicros).toBeGreaterThan(0);
    expect([record, again]).toMatchObject([{ costMicros: 0 }, { costMicros: 0 }]);
  });

  test('and forth again: what was left can be restored too', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const before = await see(world.store, conversationId);
    await restore(world, conversationId, 0);

    await restore(world, conversationId, 1);

    expect((await see(world.store, conversationId)).text).toBe(before.text);
  });

  test('drops what waits, and asks for nothing below the hard threshold', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world, {
      head: { settings: { thresholdTokens: 2_000 } },
    });
    await setHead(world, conversationId, { compactionNeeded: { ...manualNeed('late') } });

    await restore(world, conversationId, 0);

    const { head, history, tokens } = await see(world.store, conversationId);
    expect(head.compactionNeeded).toEqual({});
    expect(history?.afterTokens).toBe(tokens);
    expect(world.chat.published).toEqual([]);
  });

  test('asks for a compaction at once when the turns are over the hard threshold', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    await restore(world, conversationId, 0);

    const { head } = await see(world.store, conversationId);
    expect(head.compactionNeeded.auto).toMatchObject({ trigger: 'overflow' });
    expect(world.chat.published).toMatchObject([
      { topic: 'compaction', data: { requestId: head.compactionNeeded.auto?.requestId } },
    ]);
    await compactOnce(world.bench, conversationId);
    expect((await see(world.store, conversationId)).head).toMatchObject({ generation: 3 });
  });

  test('tells the events topic which generation is in use again', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    await restore(world, conversationId, 0);

    expect(world.chat.told).toMatchObject([
      {
        topic: 'events',
        data: { type: 'compaction.restored', conversationId, generation: 2, restoredFrom: 0 },
      },
      { topic: 'events', data: { type: 'compaction.requested' } },
    ]);
  });

  test('asks for none where the conversation is compacted by hand', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await setHead(world, conversationId, { 'settings.compaction': 'manual' });

    await restore(world, conversationId, 0);

    expect((await see(world.store, conversationId)).head.compactionNeeded).toEqual({});
  });

  test('tells the owner’s devices what is in force', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    await restore(world, conversationId, 0);

    const [status] = await world.store.get([statusPath(conversationId)]);
    const { tokens } = await see(world.store, conversationId);
    expect(status?.fields).toMatchObject({ generation: 2, tokens });
  });

  test('is the same restore when it comes again with its request id', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const first = await restore(world, conversationId, 0, 'request-r');
    await restore(world, conversationId, 1, 'request-s');

    const again = await restore(world, conversationId, 0, 'request-r');

    expect(again).toEqual(first);
    expect(await historiesOf(world, conversationId)).toHaveLength(3);
  });

  test.each([1, 0])('of generation %i, when it is in force, changes nothing', async (wanted) => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    if (wanted === 0) await restore(world, conversationId, 0);
    const before = await see(world.store, conversationId);

    const record = await restore(world, conversationId, wanted);

    expect(record.generation).toBe(before.head.generation);
    expect((await see(world.store, conversationId)).head).toEqual(before.head);
  });

  test('0 of a conversation that was never folded changes nothing', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world.bench);

    const record = await restore(world, conversationId, 0);

    expect(record).toMatchObject({ generation: 0, state: 'NOOP', reason: 'ALREADY_PRESENT' });
  });

  test('is found by its nonce when the reply is lost, and happens once', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    world.loseReplyOf(({ path }) => path === historyPath(conversationId, 2));

    const record = await restore(world, conversationId, 0);

    expect(record).toMatchObject({ generation: 2, restoredFrom: 0 });
    expect(await historiesOf(world, conversationId)).toHaveLength(2);
  });

  test('whose reply is lost is not repeated when another has followed it', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    world.loseReplyOf(({ path }) => path === historyPath(conversationId, 2));
    const wait = () => restore(world, conversationId, 1).then(() => undefined);
    const waiting = { chat: { ...world.chat, clock: { ...world.chat.clock, wait } } };

    const record = await restore(waiting, conversationId, 0);

    expect(record).toMatchObject({ generation: 2, restoredFrom: 0 });
    expect((await see(world.store, conversationId)).history).toMatchObject({
      generation: 3,
      restoredFrom: 1,
    });
  });

  test('that died before it told the workers tells them when it comes again', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const dying = { chat: { ...world.chat, ...dyingAt('generation-restored') } };
    await expect(restore(dying, conversationId, 0, 'request-r')).rejects.toThrow('died');

    await restore(world, conversationId, 0, 'request-r');

    expect(world.chat.published).toHaveLength(1);
  });
});

describe('restoring while a worker is at work', () => {
  test.each(['claimed', 'summarised', 'verified', 'before-swap'])(
    'wins when the worker has %s',
    async (point) => {
      const world = lifecycle();
      const conversationId = await compacted(world);
      await setHead(world, conversationId, { compactionNeeded: { ...manualNeed('in-flight') } });
      const held = compactionBench({
        ...world.bench,
        atCrashPoint: async (name) => {
          if (name === point) await restore(world, conversationId, 0);
        },
      });

      await compactOnce(held, conversationId);

      const { head, history } = await see(world.store, conversationId);
      const [status] = await world.store.get([statusPath(conversationId)]);
      expect(head).toMatchObject({ generation: 2, coveredThrough: { seq: 0 } });
      expect(history?.state).toBe('RESTORED');
      expect(status?.fields['generation']).toBe(2);
      const again = await compactOnce(world.bench, conversationId);
      expect(again.kind).toBe('done');
    },
  );
});

describe('what cannot be restored', () => {
  test('a generation that was never made', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);

    await expect(restore(world, conversationId, 2)).rejects.toMatchObject({
      status: 'NOT_FOUND',
      reason: 'GENERATION_NOT_FOUND',
    });
  });

  test('one that told of a message that was deleted', async () => {
    const world = lifecycle({}, rewriteBench);
    const conversationId = await compacted(world);
    await deleteMessage(world.chat, { caller: owner, conversationId, messageId: 'message-3' });

    await expect(restore(world, conversationId, 1)).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'GENERATION_ERASED',
    });
  });

  test('one that told of a message that was edited, and an earlier one can be', async () => {
    const world = lifecycle({}, rewriteBench);
    const conversationId = await compacted(world);
    const { head } = await see(world.store, conversationId);
    await compactAgain(world, conversationId);
    await restore(world, conversationId, 0);
    const [second] = await world.store.get([historyPath(conversationId, 3)]);
    // What an edit of a turn that only the second summary covers leaves.
    await world.store.commit([
      {
        op: 'update',
        path: second?.path ?? '',
        fields: { state: 'CHANGED', changedFromSeq: head.coveredThrough.seq + 1 },
        guard: { exists: true },
      },
    ]);

    await expect(restore(world, conversationId, 2)).rejects.toMatchObject({
      reason: 'GENERATION_OUTDATED',
    });
    expect(await restore(world, conversationId, 1)).toMatchObject({ restoredFrom: 1 });
  });

  test('one of somebody else, told as if it were not there', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const request = { conversationId, generation: 0, locale: undefined };

    await expect(
      restoreGeneration(world.chat, { ...request, caller: stranger }),
    ).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
  });
});

describe('the context after a restore', () => {
  test('is the same on an instance that has the conversation cached', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await showContext(world.otherChat, { caller: owner, conversationId });

    await restore(world, conversationId, 0);

    const here = await showContext(world.chat, { caller: owner, conversationId });
    const there = await showContext(world.otherChat, { caller: owner, conversationId });
    expect(there).toEqual(here);
    expect(here.generation).toBe(2);
  });
});
