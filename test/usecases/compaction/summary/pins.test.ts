import { describe, expect, test } from 'vitest';
import { showContext } from '#functions/chat/context/show-context.ts';
import { putPin } from '#functions/chat/features/pins/change-pins.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { actingAt, compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { compactAgain, lifecycle, owner } from '#test/support/chat/lifecycle.ts';
import { KEPT, kept, PINNED, pins, settings, turnsWith } from '#test/support/compaction/pinning.ts';
import { sendAll } from '#test/support/chat/sending.ts';
import { shownContents } from '#test/support/chat/shown-contents.ts';

describe('a pin', () => {
  test('a pin stands in the context word for word after one compaction and the next', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world, { conversation: { settings, pins } });

    await compactOnce(world.bench, conversationId);
    const once = await see(world.store, conversationId);
    await compactAgain(world, conversationId);
    const twice = await see(world.store, conversationId);

    expect([once.conversation.generation, twice.conversation.generation]).toEqual([1, 2]);
    for (const { conversation, text } of [once, twice]) {
      expect(conversation.pins).toEqual(pins);
      expect(text).toContain(PINNED);
    }
  });

  test('a pin is not shown to the summariser', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { conversation: { settings, pins } });

    await compactOnce(bench, conversationId);

    expect(JSON.stringify(bench.model.calls)).not.toContain(PINNED);
  });

  test('a pin counts before and after a compaction', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { conversation: { settings, pins } });

    await compactOnce(bench, conversationId);

    const texts = bench.model.counted.map(({ contents }) => JSON.stringify(contents));
    expect(texts.map((text) => text.includes(PINNED))).toEqual([true, true]);
  });

  test('a pin put while a compaction runs survives the swap', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world, { turns: turnsWith({ 3: KEPT }) });
    const put = { caller: owner, conversationId, pinId: 'late', text: 'Aisle seat.' };

    const acting = actingAt(world.bench, 'before-swap', () => putPin(world.chat, put));
    await compactOnce(acting, conversationId);

    const { conversation } = await see(world.store, conversationId);
    expect(conversation.generation).toBe(1);
    expect(conversation.pins).toEqual([{ id: 'late', text: 'Aisle seat.', source: 'api' }, kept]);
  });
});

test('the next message of a conversation is sent with its pins, as /context shows them', async () => {
  const streamer = scriptedStreamer(textAnswer('At your desk.'));
  const world = lifecycle({ model: streamer.model });
  const turns = turnsWith({ 3: KEPT });
  const conversationId = await buildDue(world, { turns, conversation: { settings, pins } });
  await compactOnce(world.bench, conversationId);

  const shown = await showContext(world.chat, { caller: owner, conversationId });
  await sendAll(world.chat, conversationId, ['Where do I sit?']);

  const sent = streamer.requests[0]?.contents.slice(0, -1) ?? [];
  expect(JSON.stringify(sent)).toBe(JSON.stringify(shownContents(shown.items)));
  expect(shown.items.slice(0, 3).map(({ kind }) => kind)).toEqual(['pin', 'snapshot', 'ack']);
  expect(JSON.stringify(sent[0])).toContain(PINNED);
  expect(JSON.stringify(sent[0])).toContain(KEPT);
});
