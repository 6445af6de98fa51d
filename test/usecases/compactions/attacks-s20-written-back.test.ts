import { describe, expect, test } from 'vitest';
import { readCompaction } from '#functions/chat/context/list-compactions.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import { fork } from '#test/support/chat/forks.ts';
import { compactedTwice } from '#test/support/compaction/known-items.ts';
import {
  CANARY,
  lifecycle,
  owner,
  removeMessage,
  type Lifecycle,
} from '#test/support/chat/lifecycle.ts';
import { restore } from '#test/support/compaction/restoring.ts';

const KEPT = 'The trip begins in Lisbon.';
const TOLD = `The user chose a secret word: ${CANARY}.`;
const OTHER = 'The user spoke of a seventh canary-sister.';

const fieldsOf = async ({ store }: Lifecycle, path: string): Promise<DocumentFields> =>
  (await store.get([path]))[0]?.fields ?? {};

/** Puts a document in the place of another, as somebody does who can write to the database. */
async function put({ store }: Lifecycle, path: string, fields: DocumentFields) {
  await store.commit([{ op: 'delete', path }]);
  await store.commit([{ op: 'create', path, fields }]);
}

/** A conversation with two generations that tell the canary; `path` is that of the first. */
async function toldTwice() {
  const world = lifecycle();
  const conversationId = await compactedTwice(world, [
    [KEPT, 1],
    [TOLD, 3],
    [OTHER, 5],
  ]);
  const path = historyPath(conversationId, 1);
  return { world, conversationId, path, before: await fieldsOf(world, path) };
}

const shownText = async ({ otherChat }: Lifecycle, conversationId: string) => {
  const target = { caller: owner, conversationId, generation: 1, locale: undefined };
  return JSON.stringify([
    await showContext(otherChat, target),
    await readCompaction(otherChat, target),
  ]);
};

describe('S20: a summary from before an erasure that is written back', () => {
  test('S20: a pre-erasure summary written back is neither shown nor restored', async () => {
    const { world, conversationId, path, before } = await toldTwice();
    await removeMessage(world, conversationId, 'message-3');

    await put(world, path, before);

    expect(await shownText(world, conversationId)).not.toContain(CANARY);
    await expect(restore(world, conversationId, 1)).rejects.toMatchObject({
      reason: 'SNAPSHOT_INVALID',
    });
  });

  test('S20: a pre-erasure summary written back enters no fork', async () => {
    const { world, conversationId, path, before } = await toldTwice();
    await removeMessage(world, conversationId, 'message-3');
    await put(world, path, before);

    const forked = await fork(world, conversationId, 'message-24');

    const { history, text } = await see(world.store, forked.conversationId);
    expect(text).not.toContain(CANARY);
    expect(JSON.stringify(history ?? {})).not.toContain(CANARY);
  });

  test('S20: a pre-erasure summary is not valid with the cleaned summary’s signature', async () => {
    const { world, conversationId, path, before } = await toldTwice();
    await removeMessage(world, conversationId, 'message-3');
    const after = await fieldsOf(world, path);

    await put(world, path, { ...after, ...before });

    expect(await shownText(world, conversationId)).not.toContain(CANARY);
  });

  test('S20: a pre-erasure summary stays invalid after the next erasure', async () => {
    const { world, conversationId, path } = await toldTwice();
    await removeMessage(world, conversationId, 'message-3');
    const between = await fieldsOf(world, path);
    await removeMessage(world, conversationId, 'message-5');

    await put(world, path, between);

    expect(JSON.stringify(between)).toContain(OTHER);
    expect(await shownText(world, conversationId)).not.toContain(OTHER);
  });

  test('S20: a pre-erasure summary is not valid under a later generation', async () => {
    const { world, conversationId, before } = await toldTwice();
    await removeMessage(world, conversationId, 'message-3');
    const generation = (await readConversation(world.store, conversationId))?.value.generation ?? 0;

    await put(world, historyPath(conversationId, generation), before);

    const { history } = await see(world.store, conversationId);
    expect(history).toMatchObject({ isUntrusted: true });
  });

  test('S20: a pre-erasure summary is emptied by the next erasure', async () => {
    const { world, conversationId, path, before } = await toldTwice();
    await removeMessage(world, conversationId, 'message-3');
    await put(world, path, before);

    await removeMessage(world, conversationId, 'message-7');

    expect(JSON.stringify(await fieldsOf(world, path))).not.toContain(CANARY);
  });
});

describe('a summary of which an erasure left something', () => {
  test('a partly erased summary is shown and restored, also without an erased turn in it', async () => {
    const { world, conversationId } = await toldTwice();
    await removeMessage(world, conversationId, 'message-31');

    expect(await shownText(world, conversationId)).toContain(OTHER);
    await restore(world, conversationId, 1);
    expect((await see(world.store, conversationId)).text).toContain(KEPT);
  });

  test('a partly erased summary of an earlier release is used until the next erasure', async () => {
    const { world, conversationId, path } = await toldTwice();
    await removeMessage(world, conversationId, 'message-3');
    const { cleaned: _, ...old } = await fieldsOf(world, path);
    await put(world, path, old);
    const conversation = `conversations/${conversationId}`;
    const { erasedIn: __, ...former } = await fieldsOf(world, conversation);
    await put(world, conversation, former);

    expect(await shownText(world, conversationId)).toContain(KEPT);
  });
});
