import { describe, expect, test } from 'vitest';
import { listCompactions } from '#functions/chat/context/list-compactions.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { finishErasure } from '#functions/erasure/finish-erasure.ts';
import { blobPiecePath, historyPath } from '#shared/conversation/documents/paths.ts';
import { continuedHistory } from '#shared/conversation/writes/next-generation.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import { addTurn, buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { encodeHistory } from '#shared/conversation/documents/history.ts';
import {
  dyingAt,
  CANARY,
  canaries,
  compactAgain,
  compacted,
  lifecycle,
  owner,
  setConversation,
  type Lifecycle,
  removeMessage,
} from '#test/support/chat/lifecycle.ts';

describe('an erasure that stopped half way', () => {
  test('an unfinished erasure shows nothing of the message meanwhile', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await compactAgain(world, conversationId);
    const dying = { chat: { ...world.chat, ...dyingAt('message-wiped') } };
    await expect(removeMessage(dying, conversationId, 'message-3')).rejects.toThrow('died');
    const target = { caller: owner, conversationId };

    const shown = await Promise.all([
      ...[0, 1, 2].map((generation) =>
        // A generation that covered the message is refused as a whole.
        showContext(world.chat, { ...target, generation }).catch((error: unknown) => error),
      ),
      listCompactions(world.chat, { ...target, pageSize: 10, locale: undefined }),
    ]);

    expect(await canaries(world)).not.toEqual([]);
    expect(JSON.stringify(shown)).not.toContain(CANARY);
  });

  test.each(['the same request', 'the sweep'])(
    'an unfinished erasure is finished by %s',
    async (by) => {
      const world = lifecycle();
      const conversationId = await compacted(world);
      const dying = { chat: { ...world.chat, ...dyingAt('message-wiped') } };
      await expect(removeMessage(dying, conversationId, 'message-3')).rejects.toThrow('died');

      if (by === 'the sweep') await finishErasure(world.chat, conversationId);
      else await removeMessage(world, conversationId, 'message-3');

      expect(await canaries(world)).toEqual([]);
      expect((await see(world.store, conversationId)).conversation.pendingErasure).toBeUndefined();
    },
  );

  test('an unfinished erasure is not undone by messages arriving meanwhile', async () => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    const sends = (async () => {
      for (let i = 0; i < 10; i++)
        await addTurn(world.store, conversationId, { user: `Late ${i}`, answer: 'Yes.' }).catch(
          () => undefined,
        );
    })();

    await removeMessage(world, conversationId, 'message-3');
    await sends;

    expect(await canaries(world)).toEqual([]);
  });
});

describe('the blobs of an erased turn', () => {
  const output = (text: string): Content => ({
    role: 'user',
    parts: [{ functionResponse: { name: 'read', response: { output: text } } }],
  });
  const call: Content = { role: 'model', parts: [{ functionCall: { name: 'read', args: {} } }] };

  /** Two turns with tool outputs, stored as blobs that the masks of generation 1 name. */
  async function withBlobs(world: Lifecycle, texts: [string, string]) {
    const { store, chat } = world;
    const turns = texts.map((text) => ({ answer: [call, output(text)] }));
    const { conversationId } = await buildConversation(store, { turns });
    const masks = texts.map((text, index) => ({
      seq: index + 1,
      contentIndex: 2,
      partIndex: 0,
      part: output(`read_blob("${chat.sha256(text)}") returns the full text.`).parts[0] ?? {},
    }));
    for (const text of new Set(texts)) {
      const path = blobPiecePath(conversationId, { sha256: chat.sha256(text), index: 0 });
      await store.commit([{ op: 'create', path, fields: { text } }]);
    }
    const history = continuedHistory({
      conversation: { generation: 0 },
      source: undefined,
      state: 'RESTORED',
      changedSeqs: [],
      requestId: 'r',
      by: 'w',
      now: world.bench.clock.now(),
      beforeTokens: 1,
      afterTokens: 1,
    });
    const fields = encodeHistory({ ...history, masks });
    await store.commit([{ op: 'create', path: historyPath(conversationId, 1), fields }]);
    await setConversation(world, conversationId, { generation: 1 });
    return conversationId;
  }

  test('the blobs of an erased turn are deleted with it', async () => {
    const world = lifecycle();
    const conversationId = await withBlobs(world, [CANARY, 'another output']);

    await removeMessage(world, conversationId, 'message-1');

    expect(await canaries(world)).toEqual([]);
    const { history } = await see(world.store, conversationId);
    expect(history?.masks).toMatchObject([{ seq: 2 }]);
    const [kept] = await world.store.get([
      blobPiecePath(conversationId, { sha256: world.chat.sha256('another output'), index: 0 }),
    ]);
    expect(kept).toBeDefined();
  });

  test('the blobs of an erased turn are deleted whole after a death between pieces', async () => {
    const world = lifecycle();
    const conversationId = await withBlobs(world, [CANARY, 'another output']);
    const sha256 = world.chat.sha256(CANARY);
    const pieces = [0, 1].map((index) => blobPiecePath(conversationId, { sha256, index }));
    const [, second = ''] = pieces;
    await world.store.commit([{ op: 'create', path: second, fields: { text: CANARY } }]);
    world.loseReplyOf(({ op, path }) => op === 'delete' && pieces.includes(path));
    await removeMessage(world, conversationId, 'message-1').catch(() => undefined);

    await removeMessage(world, conversationId, 'message-1');

    expect(await canaries(world)).toEqual([]);
  });

  test('the blobs of an erased turn stay while another turn has the same output', async () => {
    const world = lifecycle();
    const conversationId = await withBlobs(world, ['same output', 'same output']);

    await removeMessage(world, conversationId, 'message-1');

    const [kept] = await world.store.get([
      blobPiecePath(conversationId, { sha256: world.chat.sha256('same output'), index: 0 }),
    ]);
    expect(kept).toBeDefined();
  });
});
