import { describe, expect, test } from 'vitest';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { lifecycle, owner, removeMessage, setConversation } from '#test/support/chat/lifecycle.ts';
import { KEPT, kept, pins, settings, turnsWith } from '#test/support/compaction/pinning.ts';
import { edit } from '#test/support/chat/replacing.ts';
import { answered } from '#test/support/chat/starts.ts';

describe('a message that is to be kept', () => {
  test('a kept message becomes a pin of its turn when the turn is folded', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world, { turns: turnsWith({ 3: KEPT }) });

    await compactOnce(world.bench, conversationId);

    const { conversation, history, items } = await see(world.store, conversationId);
    expect(conversation.pins).toEqual([kept]);
    expect(items[0]).toMatchObject({ kind: 'pin' });
    expect(history?.report).not.toHaveProperty('keptOver');
    const [, after] = world.bench.model.counted;
    expect(JSON.stringify(after?.contents)).toContain(KEPT);
  });

  test('a kept message is no pin while it is in the tail', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { turns: turnsWith({ 20: KEPT }) });

    await compactOnce(bench, conversationId);

    const { conversation, text } = await see(bench.store, conversationId);
    expect(conversation.pins).toEqual([]);
    expect(text).toContain(KEPT);
  });

  test('a kept message without pin room is folded like any other and reported', async () => {
    const bench = compactionBench();
    const long = `${KEPT} `.repeat(20).trim();
    const conversationId = await buildDue(bench, { turns: turnsWith({ 3: long, 5: KEPT }) });

    await compactOnce(bench, conversationId);

    const { conversation, history } = await see(bench.store, conversationId);
    expect(conversation.pins.map(({ id }) => id)).toEqual(['keep-5']);
    expect(history?.report['keptOver']).toEqual([3]);
  });

  test('a kept message stays a single pin when an earlier generation is restored', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world, { turns: turnsWith({ 3: KEPT }) });
    await compactOnce(world.bench, conversationId);

    await restoreGeneration(world.chat, {
      caller: owner,
      conversationId,
      generation: 0,
      locale: undefined,
    });
    await setConversation(world, conversationId, {
      'compactionRequests.manual': { requestId: 'again', since: world.bench.clock.now() },
    });
    await compactOnce(world.bench, conversationId);

    const { conversation } = await see(world.store, conversationId);
    expect(conversation.generation).toBe(3);
    expect(conversation.pins).toEqual([kept]);
  });

  test('a kept message is a pin of a fork that has its turn', async () => {
    const world = lifecycle();
    const turns = turnsWith({ 3: KEPT });
    const conversationId = await buildDue(world, {
      turns,
      conversation: { settings, pins, ownerUid: 'u1' },
    });
    await compactOnce(world.bench, conversationId);
    const forkAt = (messageId: string) =>
      forkConversation(world.chat, { caller: owner, conversationId, messageId });

    const early = await forkAt('message-2');
    const late = await forkAt('message-20');

    expect(early.conversation.pins).toEqual(pins);
    expect(late.conversation.pins).toEqual([...pins, kept]);
  });

  test('a kept message’s pin is deleted with it; other pins’ words stay', async () => {
    const world = lifecycle();
    const same: Conversation['pins'] = [{ id: 'mine', text: KEPT, source: 'api' }];
    const turns = turnsWith({ 3: KEPT });
    const conversationId = await buildDue(world, { turns, conversation: { settings, pins: same } });
    await compactOnce(world.bench, conversationId);

    await removeMessage(world, conversationId, 'message-3');

    expect((await see(world.store, conversationId)).conversation.pins).toEqual(same);
  });

  test('a kept message’s pin goes when the message is replaced', async () => {
    const world = lifecycle();
    const turns = turnsWith({ 3: KEPT });
    const conversationId = await buildDue(world, { turns, conversation: { settings, pins } });
    await compactOnce(world.bench, conversationId);

    await answered(world.chat, edit(conversationId, 'message-3', 'I have no desk.'));

    const { conversation, text } = await see(world.store, conversationId);
    expect(conversation.pins).toEqual(pins);
    expect(text).not.toContain('4711-B');
  });
});
