import { putPin } from '#functions/chat/features/pins/change-pins.ts';
import type { PreCompactAnswer } from '#shared/compaction/hooks.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { lifecycle, owner } from '#test/support/chat/lifecycle.ts';
import { brokenRules } from '#test/support/compaction/commit-rules.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { KEPT, pins, settings, turnsWith } from '#test/support/compaction/pinning.ts';
import { describe, expect, test } from 'vitest';

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

  test('a hook’s pins are in the swapped context and in its counts', async () => {
    const bench = benchWith({ pins: [{ id: 'policy', text: 'Refunds take 14 days.' }] });
    const conversationId = await buildDue(bench, { conversation: { settings, pins } });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    const { conversation, text } = await see(bench.store, conversationId);
    const pin = { id: 'policy', text: 'Refunds take 14 days.', source: 'hook' };
    expect(conversation.pins).toEqual([...pins, pin]);
    expect(text).toContain(pin.text);
    const counted = bench.model.counted.map((prompt) => JSON.stringify(prompt.contents));
    expect(counted.every((prompt) => prompt.includes(pin.text))).toBe(true);
    expect(leftOut(bench)).toEqual([]);
  });

  test('a hook’s pins that do not fit are logged without text and left out', async () => {
    const secret = 'Refunds take 14 days. ';
    const bench = benchWith({
      pins: [
        { id: 'long', text: secret.repeat(50) },
        { id: 'a.b', text: secret },
        { id: 'half', text: `${secret}\ud83d` },
        { id: 'fits', text: 'Be brief.' },
      ],
    });
    const conversationId = await buildDue(bench, { conversation: { settings, pins } });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    const { conversation } = await see(bench.store, conversationId);
    expect(conversation.pins.map(({ id }) => id)).toEqual(['allergy', 'fits']);
    expect(leftOut(bench)).toMatchObject([
      { severity: 'WARNING', fields: { hook: 'hook-0', reason: 'UNUSABLE', pins: 2 } },
      { severity: 'WARNING', fields: { hook: 'hook-0', reason: 'PIN_BUDGET', pins: 1 } },
    ]);
    expect(JSON.stringify(bench.logged)).not.toContain('Refunds');
  });

  test('a hook’s pins stay when this or a later hook vetoes the compaction', async () => {
    const bench = benchWith({ pins: [{ id: 'policy', text: 'Be brief.' }] }, { veto: true });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'VETOED' });
    const { conversation } = await see(bench.store, conversationId);
    expect(conversation.generation).toBe(0);
    expect(conversation.pins).toMatchObject([{ id: 'policy', source: 'hook' }]);
  });

  test('a hook’s pins do not overwrite a pin put at the same time', async () => {
    const world = lifecycle();
    const conversationId = await buildDue(world);
    let isPut = false;
    const put = { caller: owner, conversationId, pinId: 'mine', text: 'Aisle seat.' };
    // Between the worker's reading of the conversation document and its batch.
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

    const { conversation } = await see(world.store, conversationId);
    expect(conversation.generation).toBe(1);
    expect(conversation.pins.map(({ id }) => id)).toEqual(['mine', 'policy']);
  });
});

test('a pinning compaction guards every batch by what was read, pins by the conversation', async () => {
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
  const [conversation] = await world.store.get([conversationPath(conversationId)]);
  expect(conversation?.fields['pins']).toHaveLength(2);
});
