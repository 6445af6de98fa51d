import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { messageGuardPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import {
  lifecycle,
  owner,
  removeMessage,
  shortConversation,
} from '#test/support/chat/lifecycle.ts';

describe('the id of a deleted message', () => {
  test('a deleted message’s id sent again calls no model, whatever its text', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    await removeMessage(world, conversationId, 'message-2');
    const message = { id: 'message-2', parts: [{ text: 'Something else.' }] };

    const handle = await sendMessage(world.chat, { caller: owner, conversationId, message });

    const { turn, replayed } = await handle.result;
    expect(replayed).toBe(true);
    expect(turn).toMatchObject({ seq: 2, contents: [], user: { parts: [] } });
    expect((await see(world.store, conversationId)).conversation.lastSeq).toBe(3);
  });

  test('a deleted failed message is not retried when sent again', async () => {
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
    await removeMessage(world, conversationId, 'message-1');
    const message = { id: 'message-1', parts: [{ text: 'Again.' }] };

    const handle = await sendMessage(world.chat, { caller: owner, conversationId, message });

    await expect(handle.result).rejects.toMatchObject({ reason: 'MODEL_OVERLOADED' });
    const [guard] = await world.store.get([messageGuardPath(conversationId, 'message-1')]);
    expect(guard?.fields['bodyHash']).toBe('');
  });
});
