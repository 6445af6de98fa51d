import { listCompactions, readCompaction } from '#functions/chat/context/list-compactions.ts';
import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { finishErasure } from '#functions/erasure/finish-erasure.ts';
import { slowWrites } from '#test/fakes/manual-clock.ts';
import { fork } from '#test/support/chat/sending.ts';
import {
  dyingAt,
  CANARY,
  canaries,
  compactAgain,
  compacted,
  lifecycle,
  owner,
  type Lifecycle,
  removeMessage,
  compactedTwice,
  historiesOf,
} from '#test/support/chat/lifecycle.ts';
import {
  see,
  compactOnce,
  geminiCliBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { describe, expect, test } from 'vitest';

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

describe('deleting a message that a summary without sources covers', () => {
  test('deleting a folded message restores the state before it and erases its summaries', async () => {
    const world = lifecycle({}, geminiCliBench);
    const conversationId = await compacted(world);
    await compactAgain(world, conversationId);
    expect((await canaries(world)).length).toBeGreaterThan(2);

    await removeMessage(world, conversationId, 'message-3');

    const { conversation, history, text } = await see(world.store, conversationId);
    expect(conversation).toMatchObject({ generation: 3, coveredThrough: { seq: 0 } });
    expect(history).toMatchObject({ state: 'CHANGED', changedFromSeq: 3, snapshotText: '' });
    expect(text).toContain('Question 1:');
    expect(await canaries(world)).toEqual([]);
    const histories = await historiesOf(world, conversationId);
    expect(histories.map(({ fields }) => fields['erased'])).toEqual([true, true, undefined]);
  });

  test('no summary says a deleted message any more once its deletion is answered', async () => {
    const world = lifecycle({}, geminiCliBench, slowWrites());
    const conversationId = await compacted(world);

    await removeMessage(world, conversationId, 'message-3');

    expect(await canaries(world)).toEqual([]);
  });
});

const KEPT = 'The trip begins in Lisbon.';
const TOLD = `The user chose a secret word: ${CANARY}.`;
const BOTH = 'The hotel has a garden.';

const items = [[KEPT, 1] as [string, number], [TOLD, 3] as [string, number]];

const show = (chat: Lifecycle['chat'], conversationId: string, generation?: number) =>
  showContext(chat, { caller: owner, conversationId, generation });

describe('deleting a message that statements of a summary cite', () => {
  test('deleting a cited message removes its statements from every generation, and no others', async () => {
    const world = lifecycle();
    const conversationId = await compactedTwice(world, items);
    const before = await see(world.store, conversationId);
    expect((await canaries(world)).length).toBeGreaterThan(2);

    await removeMessage(world, conversationId, 'message-3');

    const { conversation, history, text } = await see(world.store, conversationId);
    expect(await canaries(world)).toEqual([]);
    expect(conversation).toMatchObject({
      generation: 3,
      coveredThrough: before.conversation.coveredThrough,
    });
    expect(history).toMatchObject({ state: 'CHANGED', erasedSeqs: [3] });
    expect(text).toContain(KEPT);
    const histories = await historiesOf(world, conversationId);
    expect(histories.map(({ fields }) => fields['erased'])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(
      histories.map(({ fields }) => JSON.stringify(fields['snapshotText']).includes(KEPT)),
    ).toEqual([true, true, true]);
  });

  test('deleting a cited message shows every generation’s remainder, cached ones included', async () => {
    const world = lifecycle();
    const conversationId = await compactedTwice(world, items);
    for (const chat of [world.chat, world.otherChat])
      for (const generation of [undefined, 1]) await show(chat, conversationId, generation);

    await removeMessage(world, conversationId, 'message-3');

    for (const chat of [world.chat, world.otherChat])
      for (const generation of [undefined, 1, 2]) {
        const shown = JSON.stringify(await show(chat, conversationId, generation));
        expect(shown).toContain(KEPT);
        expect(shown).not.toContain(CANARY);
      }
    for (const generation of [1, 2, 3]) {
      const target = { caller: owner, conversationId, generation, locale: undefined };
      expect(JSON.stringify(await readCompaction(world.chat, target))).not.toContain(CANARY);
    }
  });

  test.each([
    ['its own words', `The word is ${CANARY}.`],
    ['its identifier', `Remember ${CANARY} for later.`],
  ])(
    'deleting a cited message removes a statement that repeats %s and cites another turn',
    async (_, text) => {
      const world = lifecycle();
      const conversationId = await compactedTwice(world, [
        [KEPT, 1],
        [text, 5],
      ]);

      await removeMessage(world, conversationId, 'message-3');

      expect(await canaries(world)).toEqual([]);
      expect((await see(world.store, conversationId)).text).toContain(KEPT);
    },
  );

  test.each(['the same request', 'the sweep'])(
    'the erasure of cited statements is finished by %s, and nothing is shown meanwhile',
    async (by) => {
      const world = lifecycle();
      const conversationId = await compactedTwice(world, [...items, [`Again ${CANARY}.`, 5]]);
      const dying = { chat: { ...world.chat, ...dyingAt('message-wiped') } };
      await expect(removeMessage(dying, conversationId, 'message-3')).rejects.toThrow('died');
      expect(await canaries(world)).not.toEqual([]);
      const now = JSON.stringify(await show(world.chat, conversationId));
      await expect(show(world.chat, conversationId, 1)).rejects.toMatchObject({
        reason: 'GENERATION_ERASED',
      });

      if (by === 'the sweep') await finishErasure(world.chat, conversationId);
      else await removeMessage(world, conversationId, 'message-3');

      expect(now).not.toContain(CANARY);
      expect(await canaries(world)).toEqual([]);
      expect(JSON.stringify(await show(world.chat, conversationId, 1))).toContain(KEPT);
    },
  );

  test('deleting a cited message restores the earlier state where no statement remains', async () => {
    const world = lifecycle();
    const conversationId = await compactedTwice(world, [[TOLD, 3]]);

    await removeMessage(world, conversationId, 'message-3');

    const { conversation, text } = await see(world.store, conversationId);
    expect(conversation.coveredThrough.seq).toBe(0);
    expect(text).toContain('Question 1:');
    expect(await canaries(world)).toEqual([]);
  });

  test('deleting a cited message leaves earlier generations restorable and forkable', async () => {
    const world = lifecycle();
    const conversationId = await compactedTwice(world, items);
    await removeMessage(world, conversationId, 'message-3');

    const restored = await restoreGeneration(world.chat, {
      caller: owner,
      conversationId,
      generation: 1,
      locale: undefined,
    });
    const forked = await fork(world, conversationId, 'message-30');

    expect(restored).toMatchObject({ state: 'RESTORED', restoredFrom: 1 });
    for (const id of [conversationId, forked.conversationId]) {
      const { history, text } = await see(world.store, id);
      expect(history?.isUnreadable).toBeUndefined();
      expect(text).toContain(KEPT);
      expect(text).not.toContain(CANARY);
    }
  });
});

test('statements lost with an erased message are derived again from remaining turns', async () => {
  const world = lifecycle();
  const conversationId = await compactedTwice(world, [
    [KEPT, 1],
    [BOTH, 3, 4],
  ]);
  await removeMessage(world, conversationId, 'message-3');
  const { conversation, text } = await see(world.store, conversationId);
  expect(conversation.compactionRequests.auto).toMatchObject({ trigger: 'auto' });
  expect(world.chat.published).toHaveLength(1);
  expect(text).not.toContain('Question 4');

  expect(await compactOnce(world.bench, conversationId)).toMatchObject({ state: 'COMPACTED' });

  const asked = JSON.stringify(world.bench.model.calls.at(-1)?.contents);
  expect(asked).toContain('Question 4');
  expect(asked).not.toContain(CANARY);
  const after = await see(world.store, conversationId);
  expect(after.history?.rederiveFrom).toBeUndefined();
  expect(after.conversation.coveredThrough.seq).toBeGreaterThanOrEqual(
    conversation.coveredThrough.seq,
  );
  expect(after.conversation.compactionRequests).toEqual({});
});
