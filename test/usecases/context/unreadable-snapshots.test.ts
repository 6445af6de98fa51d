import { listCompactions, readCompaction } from '#functions/chat/context/list-compactions.ts';
import { previewCompaction } from '#functions/chat/context/manual-compaction.ts';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import {
  deleteConversation,
  undeleteConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import {
  type Lifecycle,
  canaries,
  compactAgain,
  compacted,
  lifecycle,
  owner,
  removeMessage,
  setConversation,
} from '#test/support/chat/lifecycle.ts';
import { fork, edit, request, answered } from '#test/support/chat/sending.ts';
import {
  compactOnce,
  manualRequest,
  see,
  damage,
} from '#test/support/compaction/compacted-conversation.ts';
import { describe, expect, test } from 'vitest';

const DAMAGED = 'DAMAGED';

/** Two generations, of which one cannot be read. */
async function withDamaged(generation: number) {
  const logged: { event: string; fields: object }[] = [];
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const world = lifecycle({
    model,
    logger: { log: (_, event, fields) => void logged.push({ event, fields }) },
  });
  const conversationId = await compacted(world);
  await compactAgain(world, conversationId);
  await damage(world.store, { conversationId, generation });
  const alarms = () => logged.filter(({ event }) => event === 'history_unreadable');
  return { world, conversationId, requests, alarms };
}

const restore = ({ chat }: Lifecycle, conversationId: string, generation: number) =>
  restoreGeneration(chat, { caller: owner, conversationId, generation, locale: undefined });

describe('a snapshot that cannot be read', () => {
  test('an unreadable snapshot reaches no prompt, and the chat continues', async () => {
    const { world, conversationId, requests, alarms } = await withDamaged(2);

    const turn = await answered(world.chat, request(conversationId, 'What now?'));

    expect(turn.state).toBe('done');
    expect(requests).toHaveLength(1);
    expect(JSON.stringify(requests)).not.toContain(DAMAGED);
    expect(JSON.stringify(requests)).not.toContain('state_snapshot');
    expect(alarms()).not.toEqual([]);
    expect(alarms()[0]?.fields).toMatchObject({ conversationId, generation: 2 });
  });

  test('an unreadable snapshot is shown to nobody, and its record says why', async () => {
    const { world, conversationId } = await withDamaged(2);
    const target = { caller: owner, conversationId, locale: undefined };

    const shown = await Promise.all([
      ...[undefined, 0, 1].map((generation) => showContext(world.chat, { ...target, generation })),
      listCompactions(world.chat, { ...target, pageSize: 10 }),
    ]);
    const records = await Promise.all(
      [1, 2].map((generation) => readCompaction(world.chat, { ...target, generation })),
    );

    expect(JSON.stringify(shown)).not.toContain(DAMAGED);
    expect(records.map(({ reason }) => reason)).toEqual([undefined, 'SNAPSHOT_UNREADABLE']);
  });

  test.each([1, 2])(
    'an unreadable snapshot of generation %i cannot be restored',
    async (generation) => {
      const { world, conversationId } = await withDamaged(generation);

      await expect(restore(world, conversationId, generation)).rejects.toMatchObject({
        status: 'FAILED_PRECONDITION',
        reason: 'SNAPSHOT_UNREADABLE',
      });
    },
  );

  test('an unreadable snapshot does not prevent restoring others', async () => {
    const { world, conversationId, requests } = await withDamaged(2);

    await restore(world, conversationId, 1);
    await answered(world.chat, request(conversationId, 'What now?'));

    expect(JSON.stringify(requests)).toContain('Plan a trip');
    expect(JSON.stringify(requests)).not.toContain(DAMAGED);
  });

  test('an unreadable snapshot enters no fork, which has the newest readable one', async () => {
    const { world, conversationId } = await withDamaged(2);
    const first = await world.store.get([historyPath(conversationId, 1)]);

    const forked = await fork(world, conversationId, 'message-31');

    const { conversation, history, text } = await see(world.store, forked.conversationId);
    expect(text).not.toContain(DAMAGED);
    expect(history?.snapshotText).toBe(first[0]?.fields['snapshotText']);
    expect(conversation.coveredThrough).toEqual(first[0]?.fields['coveredThrough']);
  });

  test.each<[string, (world: Lifecycle, id: string) => Promise<unknown>]>([
    ['an edit', (world, id) => answered(world.chat, edit(id, 'message-31', 'Other.'))],
    ['a deletion', (world, id) => removeMessage(world, id, 'message-31')],
    [
      'the bin',
      async (world, id) => {
        await deleteConversation(world.chat, { caller: owner, conversationId: id });
        await undeleteConversation(world.chat, { caller: owner, conversationId: id });
      },
    ],
  ])(
    'an unreadable snapshot does not continue after %s: the newest readable one does',
    async (_, change) => {
      const { world, conversationId } = await withDamaged(2);

      await change(world, conversationId);

      const { conversation, history, text } = await see(world.store, conversationId);
      expect(conversation.generation).toBe(3);
      expect(history?.isUnreadable).toBeUndefined();
      expect(text).toContain('Plan a trip');
      expect(text).not.toContain(DAMAGED);
    },
  );

  test.each([
    ['the newest one that can be read', [2], 'After the first.'],
    ['none where none can be read', [1, 2], 'Question 1:'],
  ])(
    'an unreadable snapshot is folded by no compaction, which starts from %s',
    async (_, damaged, read) => {
      const { world, conversationId } = await withDamaged(2);
      for (const generation of damaged) await damage(world.store, { conversationId, generation });
      await setConversation(world, conversationId, {
        compactionRequests: { ...manualRequest('again') },
      });
      const before = world.bench.model.calls.length;

      const preview = await previewCompaction(world.chat, { caller: owner, conversationId });
      const outcome = await compactOnce(world.bench, conversationId);

      expect(preview).toMatchObject({ state: 'WOULD_COMPACT' });
      expect(outcome).toMatchObject({ state: 'COMPACTED' });
      const asked = JSON.stringify(world.bench.model.calls.slice(before));
      expect(asked).toContain(read);
      expect(asked).not.toContain(DAMAGED);
      const { history, text } = await see(world.store, conversationId);
      expect(history?.isUnreadable).toBeUndefined();
      expect(text).toContain('state_snapshot');
    },
  );

  test('an unreadable snapshot is emptied by any message’s erasure, whatever it covers', async () => {
    const { world, conversationId } = await withDamaged(1);
    await damage(
      world.store,
      { conversationId, generation: 1 },
      { snapshotText: 'canary-4711-zephyr', snapshotJson: '{"half' },
    );

    await removeMessage(world, conversationId, 'message-3');

    expect(await canaries(world)).toEqual([]);
  });
});
