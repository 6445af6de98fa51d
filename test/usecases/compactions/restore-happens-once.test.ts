import { describe, expect, test } from 'vitest';
import { historyPath, statusPath } from '#shared/conversation/documents/paths.ts';
import {
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { compacted, dyingAt, lifecycle, setConversation } from '#test/support/chat/lifecycle.ts';
import { restore } from '#test/support/compaction/restoring.ts';
import { historiesOf } from '#test/support/compaction/stored-histories.ts';

describe('a restore', () => {
  test('a restore repeated with its request id is the same restore', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const first = await restore(world, conversationId, 0, 'request-r');
    await restore(world, conversationId, 1, 'request-s');

    const again = await restore(world, conversationId, 0, 'request-r');

    expect(again).toEqual(first);
    expect(await historiesOf(world, conversationId)).toHaveLength(3);
  });

  test.each([1, 0])(
    'restoring generation %i while it is in force changes nothing',
    async (wanted) => {
      const world = lifecycle();
      const conversationId = await compacted(world);
      if (wanted === 0) await restore(world, conversationId, 0);
      const before = await see(world.store, conversationId);

      const record = await restore(world, conversationId, wanted);

      expect(record.generation).toBe(before.conversation.generation);
      expect((await see(world.store, conversationId)).conversation).toEqual(before.conversation);
    },
  );

  test('restoring generation 0 of a never folded conversation changes nothing', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world.bench);

    const record = await restore(world, conversationId, 0);

    expect(record).toMatchObject({ generation: 0, state: 'NOOP', reason: 'ALREADY_PRESENT' });
  });

  test('a restore whose reply is lost is found by its nonce and happens once', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    world.loseReplyOf(({ path }) => path === historyPath(conversationId, 2));

    const record = await restore(world, conversationId, 0);

    expect(record).toMatchObject({ generation: 2, restoredFrom: 0 });
    expect(await historiesOf(world, conversationId)).toHaveLength(2);
  });

  test('a restore whose reply is lost is not repeated after a later restore', async () => {
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

  test('a restore that died before publishing publishes when repeated', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const dying = { chat: { ...world.chat, ...dyingAt('generation-restored') } };
    await expect(restore(dying, conversationId, 0, 'request-r')).rejects.toThrow('died');

    await restore(world, conversationId, 0, 'request-r');

    expect(world.chat.published).toHaveLength(1);
  });
});

test.each(['claimed', 'summarised', 'verified', 'before-swap'])(
  'a restore wins when the worker has %s',
  async (point) => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await setConversation(world, conversationId, {
      compactionRequests: { ...manualRequest('in-flight') },
    });
    const held = compactionBench({
      ...world.bench,
      atCrashPoint: async (name) => {
        if (name === point) await restore(world, conversationId, 0);
      },
    });

    await compactOnce(held, conversationId);

    const { conversation, history } = await see(world.store, conversationId);
    const [status] = await world.store.get([statusPath(conversationId)]);
    expect(conversation).toMatchObject({ generation: 2, coveredThrough: { seq: 0 } });
    expect(history?.state).toBe('RESTORED');
    expect(status?.fields['generation']).toBe(2);
    const again = await compactOnce(world.bench, conversationId);
    expect(again.kind).toBe('done');
  },
);
