import { describe, expect, test } from 'vitest';
import { listCompactions, readCompaction } from '#functions/chat/context/list-compactions.ts';
import { previewCompaction } from '#functions/chat/context/preview-compaction.ts';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { deleteConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { undeleteConversation } from '#functions/chat/conversations/erase/undelete-conversation.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import {
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { fork } from '#test/support/chat/forks.ts';
import {
  canaries,
  compactAgain,
  compacted,
  lifecycle,
  owner,
  removeMessage,
  setConversation,
  type Lifecycle,
} from '#test/support/chat/lifecycle.ts';
import { edit } from '#test/support/chat/replacing.ts';
import { request } from '#test/support/chat/sending.ts';
import { tamper } from '#test/support/signing.ts';
import { answered } from '#test/support/chat/starts.ts';

const FORGED = 'FORGED';

/** Two generations, of which somebody rewrote one in the database. */
async function withForged(generation: number) {
  const logged: { event: string; fields: object }[] = [];
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const world = lifecycle({
    model,
    logger: { log: (_, event, fields) => void logged.push({ event, fields }) },
  });
  const conversationId = await compacted(world);
  await compactAgain(world, conversationId);
  await tamper(world.store, { conversationId, generation });
  const alarms = () => logged.filter(({ event }) => event === 'snapshot_signature_invalid');
  return { world, conversationId, requests, alarms };
}

const restore = ({ chat }: Lifecycle, conversationId: string, generation: number) =>
  restoreGeneration(chat, { caller: owner, conversationId, generation, locale: undefined });

describe('a snapshot that somebody else wrote', () => {
  test('a foreign snapshot reaches no prompt, and the chat continues', async () => {
    const { world, conversationId, requests, alarms } = await withForged(2);

    const turn = await answered(world.chat, request(conversationId, 'What now?'));

    expect(turn.state).toBe('done');
    expect(requests).toHaveLength(1);
    expect(JSON.stringify(requests)).not.toContain(FORGED);
    expect(JSON.stringify(requests)).not.toContain('state_snapshot');
    expect(alarms()).not.toEqual([]);
    expect(alarms()[0]?.fields).toEqual({ conversationId, generation: 2, keyId: 'local' });
  });

  test('a foreign snapshot is logged once each time it is read', async () => {
    const { world, conversationId, alarms } = await withForged(2);
    const show = () => showContext(world.chat, { caller: owner, conversationId });

    await show();
    await show();

    expect(alarms()).toHaveLength(2);
  });

  test('a foreign snapshot is shown to nobody, and its record says why', async () => {
    const { world, conversationId } = await withForged(2);
    const target = { caller: owner, conversationId, locale: undefined };

    const shown = await Promise.all([
      ...[undefined, 0, 1].map((generation) => showContext(world.chat, { ...target, generation })),
      listCompactions(world.chat, { ...target, pageSize: 10 }),
    ]);
    const records = await Promise.all(
      [1, 2].map((generation) => readCompaction(world.chat, { ...target, generation })),
    );

    expect(JSON.stringify(shown)).not.toContain(FORGED);
    expect(records.map(({ reason }) => reason)).toEqual([undefined, 'SNAPSHOT_INVALID']);
  });

  test.each([1, 2])(
    'a foreign snapshot of generation %i cannot be restored',
    async (generation) => {
      const { world, conversationId } = await withForged(generation);

      await expect(restore(world, conversationId, generation)).rejects.toMatchObject({
        status: 'FAILED_PRECONDITION',
        reason: 'SNAPSHOT_INVALID',
      });
    },
  );

  test('a foreign snapshot does not prevent restoring others', async () => {
    const { world, conversationId, requests } = await withForged(2);

    await restore(world, conversationId, 1);
    await answered(world.chat, request(conversationId, 'What now?'));

    expect(JSON.stringify(requests)).toContain('Plan a trip');
    expect(JSON.stringify(requests)).not.toContain(FORGED);
  });

  test('a foreign snapshot enters no fork, which has the newest verified one', async () => {
    const { world, conversationId } = await withForged(2);
    const first = await world.store.get([historyPath(conversationId, 1)]);

    const forked = await fork(world, conversationId, 'message-31');

    const { conversation, history, text } = await see(world.store, forked.conversationId);
    expect(text).not.toContain(FORGED);
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
    'a foreign snapshot does not continue after %s: the newest verified one does',
    async (_, change) => {
      const { world, conversationId } = await withForged(2);

      await change(world, conversationId);

      const { conversation, history, text } = await see(world.store, conversationId);
      expect(conversation.generation).toBe(3);
      expect(history?.isUntrusted).toBeUndefined();
      expect(text).toContain('Plan a trip');
      expect(text).not.toContain(FORGED);
    },
  );

  test.each([
    ['the newest one that verifies', [2], 'After the first.'],
    ['none where none verifies', [1, 2], 'Question 1:'],
  ])(
    'a foreign snapshot is folded by no compaction, which starts from %s',
    async (_, forged, read) => {
      const { world, conversationId } = await withForged(2);
      for (const generation of forged) await tamper(world.store, { conversationId, generation });
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
      expect(asked).not.toContain(FORGED);
      const { history, text } = await see(world.store, conversationId);
      expect(history?.isUntrusted).toBeUndefined();
      expect(text).toContain('state_snapshot');
    },
  );

  test('a foreign snapshot is emptied by any message’s erasure, whatever it claims to cover', async () => {
    const { world, conversationId } = await withForged(1);
    await tamper(
      world.store,
      { conversationId, generation: 1 },
      { snapshotText: 'canary-4711-zephyr', coveredThrough: { seq: 1, contentIndex: 0 } },
    );

    await removeMessage(world, conversationId, 'message-3');

    expect(await canaries(world)).toEqual([]);
  });
});

describe('a snapshot that was moved', () => {
  test('a snapshot moved under another generation is not valid', async () => {
    const { world, conversationId } = await withForged(2);
    const [first] = await world.store.get([historyPath(conversationId, 1)]);
    await tamper(
      world.store,
      { conversationId, generation: 2 },
      { ...first?.fields, generation: 2, snapshotText: first?.fields['snapshotText'] },
    );

    const { history } = await see(world.store, conversationId);

    expect(history?.isUntrusted).toBe(true);
  });

  test('a snapshot moved into another conversation is not valid', async () => {
    const world = lifecycle();
    const [mine, other] = [await compacted(world), await compacted(world)];
    const [document] = await world.store.get([historyPath(mine, 1)]);
    await tamper(world.store, { conversationId: other, generation: 1 }, document?.fields);

    const [from, to] = [await see(world.store, mine), await see(world.store, other)];

    expect(from.history?.isUntrusted).toBeUndefined();
    expect(to.history?.isUntrusted).toBe(true);
  });
});
