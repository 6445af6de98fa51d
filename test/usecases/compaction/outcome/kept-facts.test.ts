import { expect, test } from 'vitest';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  geminiCliBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import type { TurnToBuild } from '#test/support/compaction/conversation-builder.ts';

/** Twenty turns, the first ones of which state so many references, each in a sentence of its own. */
const stating = (references: number): TurnToBuild[] =>
  Array.from({ length: 20 }, (_, i) =>
    i < references ? { user: `The parcel number ${'abcdefghijkl'[i]} is PX-48${i}13-${i}.` } : {},
  );

const keptFacts = async (bench: ReturnType<typeof compactionBench>, turns: TurnToBuild[]) => {
  const conversationId = await buildDue(bench, { turns });
  await compactOnce(bench, conversationId);
  const line = bench.logged.find(({ event }) => event === 'chat_compression')?.fields;
  return {
    text: (await see(bench.store, conversationId)).text,
    facts: line?.['neededFacts'],
    kept: line?.['neededFactsKept'],
  };
};

test('a swap logs how many facts a later answer needs, and that the new context says them all', async () => {
  const { facts, kept, text } = await keptFacts(compactionBench(), stating(2));

  expect([facts, kept]).toEqual([2, 2]);
  expect(text).toContain('PX-48113-1');
});

test('a swap whose snapshot has no room for all of them logs how many it says', async () => {
  const { facts, kept, text } = await keptFacts(compactionBench(), stating(12));
  const said = Array.from({ length: 12 }, (_, i) => `PX-48${i}13-${i}`).filter((reference) =>
    text.includes(reference),
  );

  expect(facts).toBe(12);
  expect(kept).toBe(said.length);
  expect(said.length).toBeLessThan(12);
});

test('a swap without such facts logs that there were none', async () => {
  expect(await keptFacts(compactionBench(), stating(0))).toMatchObject({ facts: 0, kept: 0 });
});

test('a failed compaction and one of Gemini CLI’s passes log none', async () => {
  const refused = compactionBench({ model: createScriptedModel({ answers: ['Nothing.'] }) });
  const rewriting = geminiCliBench({ model: createScriptedModel({ answers: [snapshotAnswer()] }) });

  expect(await keptFacts(refused, stating(2))).toMatchObject({ facts: undefined });
  expect(await keptFacts(rewriting, stating(2))).toMatchObject({ facts: undefined });
});
