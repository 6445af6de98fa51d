import { describe, expect, test } from 'vitest';
import { eraseOwnConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import { finishErasure } from '#functions/erasure/finish-erasure.ts';
import type { Note } from '#shared/memory/note.ts';
import { serveErasures, erase } from '#test/support/compaction/erasing.ts';
import {
  CANARY,
  canaries,
  compacted,
  dyingAt,
  lifecycle,
  owner,
  removeMessage,
  shortConversation,
  type Lifecycle,
} from '#test/support/chat/lifecycle.ts';
import { notesOf, storeNotes } from '#test/support/notes.ts';
import { noteOf } from '#test/unit/memory/notes.ts';

/** A note that a tool made in turn `seq` of what the user said in `saidIn`. */
const toolNote = (
  id: string,
  from: { conversationId: string; seq: number; saidIn: number },
): Note => {
  const saidAt = new Date('2026-03-02T10:00:00.000Z');
  const text = `The word is ${CANARY}.`;
  return noteOf(1, { id, text, source: 'tool', from: { ...from, saidAt } });
};

const idsLeft = async ({ store }: Lifecycle) =>
  (await notesOf(store, owner.uid)).notes.map(({ id }) => id);

describe('a message that is erased', () => {
  /** Deletes it, dies right after the message is wiped, and lets the sweep finish. */
  const dieAndSweep = async ({ chat }: Lifecycle, conversationId: string, messageId: string) => {
    const dying = { chat: { ...chat, ...dyingAt('message-wiped') } };
    await expect(removeMessage(dying, conversationId, messageId)).rejects.toThrow('died');
    await finishErasure(chat, conversationId);
  };

  test.each([
    ['at once', removeMessage],
    ['by the sweep', dieAndSweep],
  ])('erasing a message removes the notes that a tool made of it, %s', async (_, remove) => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await storeNotes(world.store, owner.uid, [
      toolNote('said', { conversationId, seq: 4, saidIn: 3 }),
      toolNote('called', { conversationId, seq: 3, saidIn: 2 }),
    ]);

    await remove(world, conversationId, 'message-3');

    expect(await canaries(world)).toEqual([]);
    expect(await idsLeft(world)).toEqual([]);
  });

  test('erasing a message keeps notes of other turns, conversations and the user', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    const other = await shortConversation(world);
    await storeNotes(world.store, owner.uid, [
      toolNote('gone', { conversationId, seq: 2, saidIn: 2 }),
      toolNote('third', { conversationId, seq: 3, saidIn: 3 }),
      toolNote('other', { conversationId: other, seq: 2, saidIn: 2 }),
      noteOf(4, { id: 'own' }),
    ]);

    await removeMessage(world, conversationId, 'message-2');

    expect(await idsLeft(world)).toEqual(['third', 'other', 'own']);
  });

  test('erasing a message without notes changes no notes', async () => {
    const world = lifecycle();
    const conversationId = await shortConversation(world);
    await storeNotes(world.store, owner.uid, [noteOf(1)]);
    const before = await notesOf(world.store, owner.uid);

    await removeMessage(world, conversationId, 'message-2');

    expect(await notesOf(world.store, owner.uid)).toEqual(before);
  });
});

test('erasing a conversation removes the notes that tools made in it, and no others', async () => {
  const world = lifecycle();
  const conversationId = await shortConversation(world);
  await storeNotes(world.store, owner.uid, [
    toolNote('gone', { conversationId, seq: 2, saidIn: 2 }),
    noteOf(2, { id: 'own' }),
  ]);

  await eraseOwnConversation(world.chat, { caller: owner, conversationId, ifMatch: undefined });
  await serveErasures(world);

  expect(await canaries(world)).toEqual([]);
  expect(await idsLeft(world)).toEqual(['own']);
});

test('erasing a user leaves no note', async () => {
  const world = lifecycle();
  await storeNotes(world.store, owner.uid, [noteOf(1, { text: CANARY })]);

  await erase(world);

  expect(await world.documents()).toEqual([]);
});
