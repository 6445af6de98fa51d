import { listCompactions, readCompaction } from '#functions/chat/context/list-compactions.ts';
import { previewCompaction } from '#functions/chat/context/manual-compaction.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import {
  deleteConversation,
  undeleteConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { turnPath, historyPath } from '#shared/conversation/documents/paths.ts';
import type { Clock, LogFields, DocumentStore, DocumentFields } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
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
import { request, edit, answered } from '#test/support/chat/sending.ts';
import {
  pass,
  silentModel,
  steeredChat,
  stoppable,
  storedTurn,
} from '#test/support/chat/streaming.ts';
import {
  compactOnce,
  manualRequest,
  see,
  updateDocument,
} from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation, modelText } from '#test/support/compaction/conversation-builder.ts';
import { expect, test, describe } from 'vitest';

/** Puts something into a history document that nobody can read. */
const damage = (
  store: Pick<DocumentStore, 'commit'>,
  target: { conversationId: string; generation: number },
  fields: DocumentFields = { snapshotText: 'DAMAGED', snapshotJson: '{"half' },
) => updateDocument(store, historyPath(target.conversationId, target.generation), fields);

/** A clock on which every wait is over at once, and that knows how long they would have been. */
function hastyClock() {
  const clock = createManualClock();
  const waitsMs: number[] = [];
  const hasty: Clock = {
    now: () => clock.now(),
    wait: (ms) => {
      waitsMs.push(ms);
      clock.advance(ms);
      return Promise.resolve();
    },
  };
  return { clock: hasty, waitsMs };
}

test('a missing history is re-read later, then blamed on the store', async () => {
  const { clock, waitsMs } = hastyClock();
  const dependencies = chatDependencies({ clock, model: silentModel() });
  const { conversationId } = await buildConversation(dependencies.store, {
    turns: 2,
    conversation: { generation: 1, coveredThrough: { seq: 1, contentIndex: 0 }, ownerUid: 'u1' },
  });

  const sent = sendMessage(dependencies, request(conversationId, 'Hello?'));

  await expect(sent).rejects.toMatchObject({ reason: 'STORE_UNAVAILABLE', retryable: true });
  expect(waitsMs).toHaveLength(30);
  expect(waitsMs.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(2_000);
});

test('a turn that was tried too often leaves the conversation free', async () => {
  const clock = createManualClock();
  const store = createMemoryDocumentStore();
  const process = stoppable({ clock, store });
  const dead = steeredChat({ clock: process.clock, store: process.store });
  const send = request('given-up', 'Tell me.');
  await sendMessage(dead.dependencies, send);
  process.stop();
  await updateDocument(store, turnPath('given-up', 1), { attempt: 3, producer: 'gone' });
  await pass(clock, 41_000, 1_000);

  const alive = chatDependencies({ clock, store, model: silentModel() });
  const again = sendMessage(alive, send);

  await expect(again).rejects.toMatchObject({ reason: 'TURN_ABANDONED', retryAfterMs: 60_000 });
  expect(await storedTurn(alive, 'given-up')).toMatchObject({ state: 'failed' });
  expect((await readConversation(store, 'given-up'))?.value.open).toBeUndefined();
});

/** A turn whose call was never answered, as an import or another version may have left it. */
const brokenTurn = {
  answer: [
    { role: 'model' as const, parts: [{ functionCall: { name: 'find', args: {} } }] },
    modelText('Done.'),
  ],
};

test('a stored turn that no model accepts is repaired in the prompt, shown and logged', async () => {
  const streamer = scriptedStreamer(textAnswer('Fine.'));
  const logged: { event: string; fields: LogFields }[] = [];
  const logger = {
    log: (_: string, event: string, fields: LogFields) => void logged.push({ event, fields }),
  };
  const chat = chatDependencies({ model: streamer.model, logger });
  const { conversationId } = await buildConversation(chat.store, { turns: [brokenTurn] });
  const caller = { uid: 'u1', tier: 'signedIn' } as const;

  const shown = await showContext(chat, { caller, conversationId });
  await answered(chat, request(conversationId, 'And now?'));

  const sent = JSON.stringify(streamer.requests.at(-1)?.contents);
  expect(sent).not.toContain('functionCall');
  expect(sent).toContain('Done.');
  expect(shown.items.find(({ kind }) => kind === 'turn')).toMatchObject({
    repairs: { orphanCall: 1 },
  });
  expect((await storedTurn(chat, conversationId, 2)).repairs).toEqual({ orphanCall: 1 });
  expect(logged).toContainEqual({
    event: 'history_mended',
    fields: expect.objectContaining({ promptId: 't_2', orphanCall: 1 }),
  });
});

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
});
