import { describe, expect, test } from 'vitest';
import { restoreGeneration } from '../../functions/src/chat/context/restore-generation.ts';
import { showContext } from '../../functions/src/chat/context/show-context.ts';
import { forkConversation } from '../../functions/src/chat/conversation/fork-conversation.ts';
import { putPin } from '../../functions/src/chat/pins/change-pins.ts';
import type { PreCompactAnswer } from '../../shared/compaction/hooks.ts';
import type { Head } from '../../shared/conversation/head.ts';
import { headPath } from '../../shared/conversation/paths.ts';
import type { DocumentStore } from '../../shared/ports.ts';
import { brokenRules } from '../support/commit-rules.ts';
import { buildDue, compactOnce, see, THRESHOLD_TOKENS } from '../support/compacted-conversation.ts';
import { actingAt, compactionBench } from '../support/compaction-dependencies.ts';
import type { TurnToBuild } from '../support/conversation-builder.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { sendAll } from '../support/sending.ts';
import { shownContents } from '../support/shown-contents.ts';
import { compactAgain, lifecycle, owner, removeMessage, setHead } from '../support/lifecycle.ts';
import { edit } from '../support/replacing.ts';
import { answered } from '../support/starts.ts';

const PINNED = 'The user is allergic to hazelnuts.';
const pins: Head['pins'] = [{ id: 'allergy', text: PINNED, source: 'api' }];

const KEPT = 'My desk is number 4711-B on the third floor.';
const kept = { id: 'keep-3', text: KEPT, source: 'api', seq: 3 };

/** Twenty turns; `said` stand at their places and are to stay word for word. */
const turnsWith = (said: Record<number, string>): TurnToBuild[] =>
  Array.from({ length: 20 }, (_, i) => {
    const user = said[i + 1];
    return user === undefined ? {} : { user, retention: 'keep' };
  });

const settings = { thresholdTokens: THRESHOLD_TOKENS };

describe('a pin', () => {
  test('stands in the context word for word after one compaction and after the next', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world, { head: { settings, pins } });

    await compactOnce(world.bench, conversationId);
    const once = await see(world.store, conversationId);
    await compactAgain(world, conversationId);
    const twice = await see(world.store, conversationId);

    expect([once.head.generation, twice.head.generation]).toEqual([1, 2]);
    for (const { head, text } of [once, twice]) {
      expect(head.pins).toEqual(pins);
      expect(text).toContain(PINNED);
    }
  });

  test('is not shown to the summariser', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { head: { settings, pins } });

    await compactOnce(bench, conversationId);

    expect(JSON.stringify(bench.model.calls)).not.toContain(PINNED);
  });

  test('is counted before and after', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { head: { settings, pins } });

    await compactOnce(bench, conversationId);

    const texts = bench.model.counted.map(({ contents }) => JSON.stringify(contents));
    expect(texts.map((text) => text.includes(PINNED))).toEqual([true, true]);
  });

  test('that is put while a compaction runs stands beside what the swap keeps', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world, { turns: turnsWith({ 3: KEPT }) });
    const put = { caller: owner, conversationId, pinId: 'late', text: 'Aisle seat.' };

    const acting = actingAt(world.bench, 'before-swap', () => putPin(world.chat, put));
    await compactOnce(acting, conversationId);

    const { head } = await see(world.store, conversationId);
    expect(head.generation).toBe(1);
    expect(head.pins).toEqual([{ id: 'late', text: 'Aisle seat.', source: 'api' }, kept]);
  });
});

describe('a message that is to be kept', () => {
  test('becomes a pin of its turn when the turn is folded', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world, { turns: turnsWith({ 3: KEPT }) });

    await compactOnce(world.bench, conversationId);

    const { head, history, items } = await see(world.store, conversationId);
    expect(head.pins).toEqual([kept]);
    expect(items[0]).toMatchObject({ kind: 'pin' });
    expect(history?.report).not.toHaveProperty('keptOver');
    const [, after] = world.bench.model.counted;
    expect(JSON.stringify(after?.contents)).toContain(KEPT);
  });

  test('is no pin while it stands in the tail', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { turns: turnsWith({ 20: KEPT }) });

    await compactOnce(bench, conversationId);

    const { head, text } = await see(bench.store, conversationId);
    expect(head.pins).toEqual([]);
    expect(text).toContain(KEPT);
  });

  test('is folded as any other where pins have no room, and the report says so', async () => {
    const bench = compactionBench();
    const long = `${KEPT} `.repeat(20).trim();
    const conversationId = await buildDue(bench, { turns: turnsWith({ 3: long, 5: KEPT }) });

    await compactOnce(bench, conversationId);

    const { head, history } = await see(bench.store, conversationId);
    expect(head.pins.map(({ id }) => id)).toEqual(['keep-5']);
    expect(history?.report['keptOver']).toEqual([3]);
  });

  test('stays a pin when an earlier generation is restored, and is pinned once', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world, { turns: turnsWith({ 3: KEPT }) });
    await compactOnce(world.bench, conversationId);

    await restoreGeneration(world.chat, {
      caller: owner,
      conversationId,
      generation: 0,
      locale: undefined,
    });
    await setHead(world, conversationId, {
      'compactionNeeded.manual': { requestId: 'again', since: world.bench.clock.now() },
    });
    await compactOnce(world.bench, conversationId);

    const { head } = await see(world.store, conversationId);
    expect(head.generation).toBe(3);
    expect(head.pins).toEqual([kept]);
  });

  test('is a pin of a fork that has its turn', async () => {
    const world = lifecycle();
    const turns = turnsWith({ 3: KEPT });
    const conversationId = await buildDue(world, {
      turns,
      head: { settings, pins, ownerUid: 'u1' },
    });
    await compactOnce(world.bench, conversationId);
    const forkAt = (messageId: string) =>
      forkConversation(world.chat, { caller: owner, conversationId, messageId });

    const early = await forkAt('message-2');
    const late = await forkAt('message-20');

    expect(early.head.pins).toEqual(pins);
    expect(late.head.pins).toEqual([...pins, kept]);
  });

  test('goes with its message when that is deleted; the words of other pins stay', async () => {
    const world = lifecycle();
    const same: Head['pins'] = [{ id: 'mine', text: KEPT, source: 'api' }];
    const turns = turnsWith({ 3: KEPT });
    const conversationId = await buildDue(world, { turns, head: { settings, pins: same } });
    await compactOnce(world.bench, conversationId);

    await removeMessage(world, conversationId, 'message-3');

    expect((await see(world.store, conversationId)).head.pins).toEqual(same);
  });

  test('goes with its message when that is replaced', async () => {
    const world = lifecycle();
    const turns = turnsWith({ 3: KEPT });
    const conversationId = await buildDue(world, { turns, head: { settings, pins } });
    await compactOnce(world.bench, conversationId);

    await answered(world.chat, edit(conversationId, 'message-3', 'I have no desk.'));

    const { head, text } = await see(world.store, conversationId);
    expect(head.pins).toEqual(pins);
    expect(text).not.toContain('4711-B');
  });
});

describe('pins of a hook', () => {
  const benchWith = (...answers: PreCompactAnswer[]) =>
    compactionBench({
      hooks: {
        preCompact: answers.map((answer, i) => ({
          name: `hook-${i}`,
          run: () => Promise.resolve(answer),
        })),
        postCompact: [],
      },
    });
  const leftOut = ({ logged }: ReturnType<typeof compactionBench>) =>
    logged.filter(({ event }) => event === 'compaction_hook_pins_left_out');

  test('are in the context that the swap makes, and in what is counted', async () => {
    const bench = benchWith({ pins: [{ id: 'policy', text: 'Refunds take 14 days.' }] });
    const conversationId = await buildDue(bench, { head: { settings, pins } });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    const { head, text } = await see(bench.store, conversationId);
    const pin = { id: 'policy', text: 'Refunds take 14 days.', source: 'hook' };
    expect(head.pins).toEqual([...pins, pin]);
    expect(text).toContain(pin.text);
    const counted = bench.model.counted.map((prompt) => JSON.stringify(prompt.contents));
    expect(counted.every((prompt) => prompt.includes(pin.text))).toBe(true);
    expect(leftOut(bench)).toEqual([]);
  });

  test('that do not fit or cannot be stored are logged without their text and left out', async () => {
    const secret = 'Refunds take 14 days. ';
    const bench = benchWith({
      pins: [
        { id: 'long', text: secret.repeat(50) },
        { id: 'a.b', text: secret },
        { id: 'half', text: `${secret}\ud83d` },
        { id: 'fits', text: 'Be brief.' },
      ],
    });
    const conversationId = await buildDue(bench, { head: { settings, pins } });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    const { head } = await see(bench.store, conversationId);
    expect(head.pins.map(({ id }) => id)).toEqual(['allergy', 'fits']);
    expect(leftOut(bench)).toMatchObject([
      { severity: 'WARNING', fields: { hook: 'hook-0', reason: 'UNUSABLE', pins: 2 } },
      { severity: 'WARNING', fields: { hook: 'hook-0', reason: 'PIN_BUDGET', pins: 1 } },
    ]);
    expect(JSON.stringify(bench.logged)).not.toContain('Refunds');
  });

  test('stay when the compaction is vetoed, by this hook or by a later one', async () => {
    const bench = benchWith({ pins: [{ id: 'policy', text: 'Be brief.' }] }, { veto: true });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'VETOED' });
    const { head } = await see(bench.store, conversationId);
    expect(head.generation).toBe(0);
    expect(head.pins).toMatchObject([{ id: 'policy', source: 'hook' }]);
  });

  test('do not overwrite a pin that is put at the same time', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world);
    let isPut = false;
    const put = { caller: owner, conversationId, pinId: 'mine', text: 'Aisle seat.' };
    // Between the worker's reading of the head and its batch.
    const store: DocumentStore = {
      ...world.store,
      commit: async (writes) => {
        const isPinning = writes.some((write) => write.op === 'update' && 'pins' in write.fields);
        if (isPinning && !isPut) {
          isPut = true;
          await putPin(world.chat, put);
        }
        return world.store.commit(writes);
      },
    };
    const hook = {
      name: 'h',
      run: () => Promise.resolve({ pins: [{ id: 'policy', text: 'Be brief.' }] }),
    };

    await compactOnce(
      { ...world.bench, store, hooks: { preCompact: [hook], postCompact: [] } },
      conversationId,
    );

    const { head } = await see(world.store, conversationId);
    expect(head.generation).toBe(1);
    expect(head.pins.map(({ id }) => id)).toEqual(['mine', 'policy']);
  });
});

test('every batch of a compaction that pins is guarded by what was read, the pins by the head', async () => {
  const world = lifecycle();
  const broken: string[] = [];
  const pinGuards: object[] = [];
  const store: DocumentStore = {
    ...world.store,
    commit: (writes) => {
      broken.push(...brokenRules(writes));
      for (const write of writes)
        if (write.op === 'update' && 'pins' in write.fields) pinGuards.push(write.guard);
      return world.store.commit(writes);
    },
  };
  const conversationId = await buildDue(world, { turns: turnsWith({ 3: KEPT }) });
  const hook = {
    name: 'h',
    run: () => Promise.resolve({ pins: [{ id: 'h', text: 'Be brief.' }] }),
  };

  await compactOnce(
    { ...world.bench, store, hooks: { preCompact: [hook], postCompact: [] } },
    conversationId,
  );

  expect(broken).toEqual([]);
  expect(pinGuards).toEqual([
    { updateTime: expect.any(String) },
    { updateTime: expect.any(String) },
  ]);
  const [head] = await world.store.get([headPath(conversationId)]);
  expect(head?.fields['pins']).toHaveLength(2);
});

test('the next message of a conversation is sent with its pins, as /context shows them', async () => {
  const streamer = scriptedStreamer(textAnswer('At your desk.'));
  const world = lifecycle({ model: streamer.model });
  const turns = turnsWith({ 3: KEPT });
  const conversationId = await buildDue(world, { turns, head: { settings, pins } });
  await compactOnce(world.bench, conversationId);

  const shown = await showContext(world.chat, { caller: owner, conversationId });
  await sendAll(world.chat, conversationId, ['Where do I sit?']);

  const sent = streamer.requests[0]?.contents.slice(0, -1) ?? [];
  expect(JSON.stringify(sent)).toBe(JSON.stringify(shownContents(shown.items)));
  expect(shown.items.slice(0, 3).map(({ kind }) => kind)).toEqual(['pin', 'snapshot', 'ack']);
  expect(JSON.stringify(sent[0])).toContain(PINNED);
  expect(JSON.stringify(sent[0])).toContain(KEPT);
});
