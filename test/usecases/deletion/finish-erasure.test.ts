import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { finishErasure } from '#functions/erasure/finish-erasure.ts';
import { markErasing } from '#functions/erasure/mark-erasing.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { GuardLostError } from '#shared/errors.ts';
import type { DocumentStore, Write } from '#shared/ports/ports.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { dyingAt, lifecycle, owner } from '#test/support/chat/lifecycle.ts';

/** A clock that notes how long it was waited on. */
function countingClock() {
  const waits: number[] = [];
  const wait = (ms: number) => {
    waits.push(ms);
    return setImmediate();
  };
  return { waits, clock: { now: () => new Date('2026-01-02T03:04:05Z'), wait } };
}

/** A store in which others win the guard of the first `losses` batches that are meant, and what it was asked. */
function contested(store: DocumentStore, losses: number, isMeant: (write: Write) => boolean) {
  let left = losses;
  const asked: string[] = [];
  const commit: DocumentStore['commit'] = (writes) => {
    if (left === 0 || !writes.some((write) => isMeant(write))) return store.commit(writes);
    left -= 1;
    return Promise.reject(new GuardLostError({ paths: ['head'] }));
  };
  const deleteBelow: DocumentStore['deleteBelow'] = (path, signal) => {
    asked.push(path);
    return store.deleteBelow(path, signal);
  };
  return { asked, store: { ...store, commit, deleteBelow } };
}

const isConversation = (conversationId: string) => (write: Write) =>
  write.op === 'update' && write.path === conversationPath(conversationId);

describe('an erasure that others disturb', () => {
  test('a disturbed erasure waits longer each time and repeats only its last step', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 3 });
    const request = { caller: owner, conversationId, messageId: 'message-2' };
    const dying = { ...world.chat, ...dyingAt('message-wiped') };
    await expect(deleteMessage(dying, request)).rejects.toThrow('died');
    const { waits, clock } = countingClock();
    const { asked, store } = contested(world.store, 3, isConversation(conversationId));

    await finishErasure({ ...world.chat, store, clock }, conversationId);

    expect(waits).toEqual([10, 20, 30]);
    expect(asked).toHaveLength(2);
    expect((await readConversation(store, conversationId))?.value.pendingErasure).toBeUndefined();
  });

  test('a disturbed erasure waits before it marks a conversation again', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 1 });
    const { waits, clock } = countingClock();
    const { store } = contested(world.store, 2, isConversation(conversationId));

    const marked = await markErasing({ store, clock }, conversationId, () => true);

    expect(marked).toBe('erasing');
    expect(waits).toEqual([10, 20]);
  });
});
