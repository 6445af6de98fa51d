import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deleteConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { undeleteConversation } from '#functions/chat/conversations/erase/undelete-conversation.ts';
import { eraseConversation } from '#functions/worker/push/erase-conversation.ts';
import { chunkPath, conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { neverAborted } from '../support/compaction/compacted-conversation.ts';
import { buildConversation } from '../support/compaction/conversation-builder.ts';
import { startEmulatorStack, type EmulatorStack } from '../support/processes/emulator-stack.ts';

let stack: EmulatorStack;
beforeAll(async () => {
  stack = await startEmulatorStack();
});
afterAll(() => stack.stop());

/** Eight turns of somebody new, the first with overflow pieces and a chunk of its stream. */
async function liveConversation() {
  const caller = { uid: randomUUID(), tier: 'signedIn' } as const;
  const { store } = stack.chat;
  const turns = Array.from({ length: 8 }, (_, i) =>
    i === 0 ? { user: 'secret words '.repeat(60_000) } : {},
  );
  const conversation = { ownerUid: caller.uid };
  const { conversationId } = await buildConversation(store, { turns, conversation });
  const chunk = chunkPath({ conversationId, seq: 1, attempt: 1 }, { lastId: 1, producer: 'p' });
  await store.commit([{ op: 'create', path: chunk, fields: { text: 'secret words' } }]);
  return { caller, conversationId, chunk };
}

describe('on the database', () => {
  test('deleting a message removes its pieces and its stream from the database', async () => {
    const { caller, conversationId, chunk } = await liveConversation();
    const { store } = stack.chat;

    await deleteMessage(stack.chat, { caller, conversationId, messageId: 'message-1' });

    const piece = `${turnPath(conversationId, 1)}/parts/u-1`;
    const [turn, ...gone] = await store.get([turnPath(conversationId, 1), piece, chunk]);
    expect(JSON.stringify(turn)).not.toContain('secret');
    expect(gone).toEqual([undefined, undefined]);
    expect((await readConversation(store, conversationId))?.value.pendingErasure).toBeUndefined();
  });

  test('a conversation on the database is deleted, recovered, restored and forked', async () => {
    const { caller, conversationId } = await liveConversation();
    const target = { caller, conversationId };
    await deleteConversation(stack.chat, target);
    await undeleteConversation(stack.chat, target);

    await restoreGeneration(stack.chat, { ...target, generation: 0, locale: undefined });
    const fork = await forkConversation(stack.chat, { ...target, messageId: 'm_5' });

    expect((await readConversation(stack.chat.store, conversationId))?.value).toMatchObject({
      state: 'live',
      generation: 2,
    });
    expect(fork.conversation).toMatchObject({ state: 'live', lastSeq: 5 });
    expect(fork.conversation.deleteTime).toBeUndefined();
  });

  test('an erased user leaves only tombstones in the database', async () => {
    const { caller, conversationId, chunk } = await liveConversation();
    const { store } = stack.chat;
    const worker = { ...stack.chat };

    const result = await eraseUser(stack.chat, { caller });
    await eraseConversation(worker, conversationId, neverAborted());

    expect(result).toEqual({ conversations: 1 });
    const [conversation, ...gone] = await store.get([
      conversationPath(conversationId),
      turnPath(conversationId, 1),
      turnPath(conversationId, 8),
      chunk,
    ]);
    expect(gone).toEqual([undefined, undefined, undefined]);
    expect(conversation?.fields).toMatchObject({ state: 'erased', ownerUid: '' });
    expect(JSON.stringify(conversation)).not.toContain(caller.uid);
  });
});
