import { describe, expect, test } from 'vitest';
import { FORK_TURNS_MAX } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { lifecycle, setConversation } from '#test/support/chat/lifecycle.ts';
import { fork, transcript } from '#test/support/chat/forks.ts';

describe('a fork', () => {
  test('a fork copies long messages and answers whole', async () => {
    const world = lifecycle();
    const long = 'long text '.repeat(150_000);
    const turns = Array.from({ length: 3 }, () => ({ user: long, answer: long }));
    const { conversationId } = await buildConversation(
      {
        commit: async (writes) =>
          (await Promise.all(writes.map((each) => world.store.commit([each])))).flat(),
      },
      { turns },
    );

    const forked = await fork(world, conversationId, 'message-3');

    expect(await transcript(world, forked.conversationId, 3)).toEqual(
      await transcript(world, conversationId, 3),
    );
  });

  test('a fork copies more turns than one batch holds', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 500 });

    const forked = await fork(world, conversationId, 'm_450');

    expect(await transcript(world, forked.conversationId, 500)).toEqual(
      await transcript(world, conversationId, 450),
    );
  });

  test('a fork reads ten turns at once, with the guards of their messages', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 100 });
    let gets = 0;
    const store: DocumentStore = {
      ...world.store,
      get: (paths) => {
        gets += 1;
        return world.store.get(paths);
      },
    };

    await fork({ chat: { ...world.chat, store } }, conversationId, 'm_100');

    expect(gets).toBeLessThan(30);
  });

  test('a fork of more turns than one request copies is refused', async () => {
    const world = lifecycle();
    const { conversationId } = await buildConversation(world.store, { turns: 1 });
    const seq = FORK_TURNS_MAX + 1;
    const [first] = await world.store.get([turnPath(conversationId, 1)]);
    const fields = { ...first?.fields, seq };
    await world.store.commit([{ op: 'create', path: turnPath(conversationId, seq), fields }]);
    await setConversation(world, conversationId, { lastSeq: seq });

    await expect(fork(world, conversationId, `m_${seq}`)).rejects.toMatchObject({
      status: 'FAILED_PRECONDITION',
      reason: 'FORK_TOO_LARGE',
      metadata: { turns: '20001', turnsMax: '20000' },
    });
  });
});
