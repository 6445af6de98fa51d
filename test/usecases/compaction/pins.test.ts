import { showContext } from '#functions/chat/context/show-context.ts';
import { putPin } from '#functions/chat/features/pins.ts';
import type { PreCompactAnswer } from '#shared/compaction/hooks.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { StoreUnavailableError } from '#shared/lib/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import {
  type Lifecycle,
  compactAgain,
  lifecycle,
  owner,
  removeMessage,
} from '#test/support/chat/lifecycle.ts';
import { edit, sendAll, shownContents, answered } from '#test/support/chat/sending.ts';
import { brokenRules } from '#test/support/compaction/commit-rules.ts';
import {
  THRESHOLD_TOKENS,
  buildDue,
  compactOnce,
  see,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import type {
  TurnToBuild,
  ConversationToBuild,
} from '#test/support/compaction/conversation-builder.ts';
import { describe, expect, test } from 'vitest';

const PINNED = 'The user is allergic to hazelnuts.';
/** The pins of a conversation that has one. */
const pins: Conversation['pins'] = [{ id: 'allergy', text: PINNED, source: 'api' }];

const KEPT = 'My desk is number 4711-B on the third floor.';
/** The pin that a message with these words becomes, as the third one. */
const kept = { id: 'keep-3', text: KEPT, source: 'api', seq: 3 };

/** Twenty turns; `said` stand at their places and are to stay word for word. */
const turnsWith = (said: Record<number, string>): TurnToBuild[] =>
  Array.from({ length: 20 }, (_, i) => {
    const user = said[i + 1];
    return user === undefined ? {} : { user, retention: 'keep' };
  });

const settings = { thresholdTokens: THRESHOLD_TOKENS };

const compactedWith = async (options: Partial<ConversationToBuild>) => {
  const world = lifecycle();
  const conversationId = await buildDue(world, options);
  await compactOnce(world.bench, conversationId);
  return { world, conversationId, ...(await see(world.store, conversationId)) };
};

const late = { id: 'late', text: 'Aisle seat.' };

/** The store of a world in which the owner puts a pin just before the first batch that writes pins. */
function puttingBeforePins({ chat, store }: Lifecycle, conversationId: string) {
  const broken: string[] = [];
  let isPut = false;
  const commit: DocumentStore['commit'] = async (writes) => {
    broken.push(...brokenRules(writes));
    const isPinning = writes.some((write) => write.op === 'update' && 'pins' in write.fields);
    if (isPinning && !isPut) {
      isPut = true;
      await putPin(chat, { caller: owner, conversationId, pinId: late.id, text: late.text });
    }
    return store.commit(writes);
  };
  return { store: { ...store, commit }, broken };
}

describe('a pin', () => {
  test('a pin stands in the context word for word after one compaction and the next, and in both counts', async () => {
    const { world, conversationId, ...once } = await compactedWith({
      conversation: { settings, pins },
    });
    const counted = world.bench.model.counted.map(({ contents }) => JSON.stringify(contents));
    await compactAgain(world, conversationId);
    const twice = await see(world.store, conversationId);

    expect([once.conversation.generation, twice.conversation.generation]).toEqual([1, 2]);
    for (const { conversation, text } of [once, twice]) {
      expect(conversation.pins).toEqual(pins);
      expect(text).toContain(PINNED);
    }
    expect(counted.map((text) => text.includes(PINNED))).toEqual([true, true]);
    expect(JSON.stringify(world.bench.model.calls)).not.toContain(PINNED);
  });

  test('a pin put just before the swap’s batch survives it', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world, { turns: turnsWith({ 3: KEPT }) });
    const { store } = puttingBeforePins(world, conversationId);

    await compactOnce({ ...world.bench, store }, conversationId);

    const { conversation } = await see(world.store, conversationId);
    expect(conversation.generation).toBe(1);
    expect(conversation.pins).toEqual([{ ...late, source: 'api' }, kept]);
  });

  test('a swap that adds no pin any more, after it has lost to many, is given up where the store is away', async () => {
    const { bench, chat, store } = lifecycle();
    const conversationId = await buildDue({ store }, { turns: turnsWith({ 3: KEPT }) });
    let swaps = 0;
    const commit: DocumentStore['commit'] = async (writes) => {
      const isSwap = writes.some(({ path }) => path === historyPath(conversationId, 1));
      if (!isSwap) return store.commit(writes);
      swaps += 1;
      if (swaps > 100) throw new Error('nobody gives it up');
      // The sixth one sees the pin that it would have added.
      const pinId = swaps < 6 ? late.id : kept.id;
      if (swaps <= 6)
        await putPin(chat, { caller: owner, conversationId, pinId, text: `Put ${swaps}.` });
      throw new StoreUnavailableError({ operation: 'commit' });
    };

    await compactOnce({ ...bench, store: { ...store, commit } }, conversationId);

    expect(swaps).toBe(7);
    expect((await see(store, conversationId)).conversation.generation).toBe(0);
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
});

describe('a message that is to be kept', () => {
  const built = { turns: turnsWith({ 3: KEPT }), conversation: { settings, pins } };

  test('a kept message without pin room is folded like any other and reported', async () => {
    const long = `${KEPT} `.repeat(20).trim();

    const { conversation, history } = await compactedWith({
      turns: turnsWith({ 3: long, 5: KEPT }),
    });

    expect(conversation.pins.map(({ id }) => id)).toEqual(['keep-5']);
    expect(history?.report['keptOver']).toEqual([3]);
  });

  test.each<[string, (world: Lifecycle, id: string) => Promise<unknown>]>([
    ['is deleted', (world, id) => removeMessage(world, id, 'message-3')],
    ['is replaced', (world, id) => answered(world.chat, edit(id, 'message-3', 'I have no desk.'))],
  ])('a kept message’s pin goes when the message %s; other pins’ words stay', async (_, change) => {
    const same: Conversation['pins'] = [{ id: 'mine', text: KEPT, source: 'api' }];
    const { world, conversationId } = await compactedWith({
      ...built,
      conversation: { settings, pins: same },
    });

    await change(world, conversationId);

    expect((await see(world.store, conversationId)).conversation.pins).toEqual(same);
  });
});

describe('pins of a hook', () => {
  const hooksOf = (...answers: PreCompactAnswer[]) => ({
    preCompact: answers.map((answer, i) => ({
      name: `hook-${i}`,
      run: () => Promise.resolve(answer),
    })),
    postCompact: [],
  });
  const brief = { id: 'policy', text: 'Be brief.' };

  test('a hook’s pins are in the swapped context and in its counts', async () => {
    const bench = compactionBench({ hooks: hooksOf({ pins: [brief] }) });
    const conversationId = await buildDue(bench, { conversation: { settings, pins } });

    await compactOnce(bench, conversationId);

    const { conversation, text } = await see(bench.store, conversationId);
    expect(conversation.pins).toEqual([...pins, { ...brief, source: 'hook' }]);
    expect(text).toContain(brief.text);
    const counted = bench.model.counted.map(({ contents }) => JSON.stringify(contents));
    expect(counted.every((prompt) => prompt.includes(brief.text))).toBe(true);
  });

  test('a hook’s pins that do not fit are logged without text and left out', async () => {
    const secret = 'Refunds take 14 days. ';
    const given = [
      { id: 'long', text: secret.repeat(50) },
      { id: 'a.b', text: secret },
      { id: 'half', text: `${secret}\ud83d` },
      { id: 'fits', text: 'Be brief.' },
    ];
    const bench = compactionBench({ hooks: hooksOf({ pins: given }) });
    const conversationId = await buildDue(bench, { conversation: { settings, pins } });

    await compactOnce(bench, conversationId);

    const { conversation } = await see(bench.store, conversationId);
    expect(conversation.pins.map(({ id }) => id)).toEqual(['allergy', 'fits']);
    const leftOut = bench.logged.filter(({ event }) => event === 'compaction_hook_pins_left_out');
    expect(leftOut).toMatchObject([
      { severity: 'WARNING', fields: { hook: 'hook-0', reason: 'UNUSABLE', pins: 2 } },
      { severity: 'WARNING', fields: { hook: 'hook-0', reason: 'PIN_BUDGET', pins: 1 } },
    ]);
    expect(JSON.stringify(bench.logged)).not.toContain('Refunds');
  });
});
