import { systemClock } from '#functions/adapters/clocks.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import {
  deleteConversation,
  eraseOwnConversation,
  undeleteConversation,
} from '#functions/chat/conversations/erase/delete-conversation.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { markErasing } from '#functions/erasure/erase-conversation.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { steeredStreamer } from '#test/fakes/steered-streamer.ts';
import { compacted, lifecycle, owner, setConversation } from '#test/support/chat/lifecycle.ts';
import { request } from '#test/support/chat/sending.ts';
import { storedTurn } from '#test/support/chat/streaming.ts';
import { manualRequest, see } from '#test/support/compaction/compacted-conversation.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';

/** A world in which `act` comes before the first commit that gives a conversation this state. */
function actingBefore(state: string, overrides: Partial<ChatDependencies> = {}) {
  const acting = { act: () => Promise.resolve<unknown>(undefined) };
  const world = lifecycle(overrides, undefined, {
    beforeOperation: async (operation) => {
      if (operation.name !== 'commit') return;
      if (!operation.writes.some((write) => 'fields' in write && write.fields['state'] === state))
        return;
      const { act } = acting;
      acting.act = () => Promise.resolve(undefined);
      await act();
    },
  });
  return { world, acting };
}

const DAY_MS = 24 * 60 * 60_000;

const storedConversation = async (world: ReturnType<typeof lifecycle>, conversationId: string) =>
  (await readConversation(world.store, conversationId))?.value;

describe('deleting a conversation', () => {
  test('deleting a conversation keeps it recoverable for thirty days and drops waiting requests', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await setConversation(world, conversationId, { compactionRequests: { ...manualRequest() } });

    await deleteConversation(world.chat, { caller: owner, conversationId });

    const now = world.bench.clock.now();
    expect(await storedConversation(world, conversationId)).toMatchObject({
      state: 'deleted',
      generation: 2,
      deleteTime: now,
      purgeTime: new Date(now.getTime() + 30 * DAY_MS),
      compactionRequests: {},
    });
    await expect(
      readOwnConversation(world.chat, { caller: owner, conversationId }),
    ).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
  });

  test('deleting a conversation cancels its running turn, which stores nothing more', async () => {
    const world = lifecycle({ clock: systemClock });
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const { model } = scriptedStreamer({ ...textAnswer('Too late.'), gate });
    const conversationId = randomUUID();
    const chat = { ...world.chat, model };
    const handle = await sendMessage(chat, request(conversationId, 'Hello.'));
    const answered = handle.result.then(
      () => 'answered',
      () => 'stopped',
    );

    await deleteConversation(chat, { caller: owner, conversationId });
    open();

    expect(await answered).toBe('stopped');
    const [turn] = await world.store.get([turnPath(conversationId, 1)]);
    expect(turn?.fields).toMatchObject({ state: 'cancelled', answerJson: '[]', inContext: false });
    expect(await storedConversation(world, conversationId)).toMatchObject({ state: 'deleted' });
    expect((await storedConversation(world, conversationId))?.open).toBeUndefined();
  });

  test('deleting a conversation cancels a turn that begins at the same moment', async () => {
    const { world, acting } = actingBefore('deleted', {
      clock: systemClock,
      model: steeredStreamer().model,
    });
    const conversationId = await compacted(world);
    acting.act = () => sendMessage(world.otherChat, request(conversationId, 'Wait.'));

    await deleteConversation(world.chat, { caller: owner, conversationId });

    const { lastSeq = 0 } = (await storedConversation(world, conversationId)) ?? {};
    expect((await storedTurn(world.chat, conversationId, lastSeq)).state).toBe('cancelled');
  });
});

describe('taking a conversation out of the bin', () => {
  test('recovering a conversation brings it back with its context', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const before = await see(world.store, conversationId);
    await deleteConversation(world.chat, { caller: owner, conversationId });

    await undeleteConversation(world.chat, { caller: owner, conversationId });

    const after = await see(world.store, conversationId);
    expect(after.text).toBe(before.text);
    expect(after.conversation.state).toBe('live');
    expect(after.conversation.purgeTime).toBeUndefined();
    expect(after.conversation.deleteTime).toBeUndefined();
  });

  test('recovering a conversation is too late once it is being erased', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await deleteConversation(world.chat, { caller: owner, conversationId });
    await eraseOwnConversation(world.chat, { caller: owner, conversationId });

    await expect(
      undeleteConversation(world.chat, { caller: owner, conversationId }),
    ).rejects.toMatchObject({ reason: 'CONVERSATION_NOT_FOUND' });
  });

  test('recovering a conversation at the moment of its erasure keeps it', async () => {
    const { world, acting } = actingBefore('erasing');
    const conversationId = await compacted(world);
    await deleteConversation(world.chat, { caller: owner, conversationId });
    acting.act = () => undeleteConversation(world.otherChat, { caller: owner, conversationId });

    const marked = await markErasing(
      { store: world.store, clock: systemClock },
      conversationId,
      ({ state }) => state === 'deleted',
    );

    expect(marked).toBe('kept');
    expect(await storedConversation(world, conversationId)).toMatchObject({ state: 'live' });
  });

  test('recovering a conversation wins over a sweep about to erase it', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await deleteConversation(world.chat, { caller: owner, conversationId });
    await undeleteConversation(world.chat, { caller: owner, conversationId });

    const marked = await markErasing(
      world.chat,
      conversationId,
      ({ state }) => state === 'deleted',
    );

    expect(marked).toBe('kept');
    expect(await storedConversation(world, conversationId)).toMatchObject({ state: 'live' });
  });
});

describe('deleting a conversation for good', () => {
  test.each(['live', 'deleted'])(
    'deleting a conversation for good marks one that is %s and informs workers',
    async (state) => {
      const world = lifecycle();
      const conversationId = await compacted(world);
      if (state === 'deleted')
        await deleteConversation(world.chat, { caller: owner, conversationId });

      await eraseOwnConversation(world.chat, { caller: owner, conversationId });

      expect(await storedConversation(world, conversationId)).toMatchObject({ state: 'erasing' });
      expect(world.chat.published).toEqual([
        { topic: 'compaction', data: { schemaVersion: 1, kind: 'erase', conversationId } },
      ]);
    },
  );
});
