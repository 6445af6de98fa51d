import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFakeGemini, type FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { dialoguesOf, replayDialogue } from '#lab/eval/tools/tool-dialogues.ts';
import type { ReplayedDialogue } from '#lab/eval/tools/tool-figures.ts';
import { toolDialogue } from '#test/fixtures/tool-dialogue.ts';

let fakeGemini: FakeGemini;
let replayed: ReplayedDialogue;
beforeAll(async () => {
  fakeGemini = await startFakeGemini();
  const wanted = { ids: [], limit: 1, turns: Number.POSITIVE_INFINITY };
  const [dialogue] = dialoguesOf([toolDialogue], wanted);
  if (!dialogue) throw new Error('the fixture is empty');
  replayed = await replayDialogue(dialogue, { fakeGemini, thresholdTokens: 1_500 });
}, 60_000);
afterAll(() => fakeGemini.close());

test('a dialogue with parallel calls, errors and an unanswered call is replayed unchanged', () => {
  expect(replayed).toMatchObject({ turns: 9, calls: 22, parallel: 1, stopped: 1, filled: 2 });
  expect(replayed.failures).toEqual([]);
  expect(replayed.errors).toEqual([]);
});

test('every call, output and text of a dialogue with tools is in the transcript', () => {
  expect(replayed.transcript).toEqual([]);
});

test('no prompt of a dialogue with tools is refused', () => {
  expect(replayed.prompts).toBeGreaterThan(30);
  expect(replayed.refusals).toEqual([]);
});

test('a dialogue with tools is compacted while it continues, and no compaction fails', () => {
  expect(Object.keys(replayed.compactions)).toContain('COMPACTED');
  expect(Object.keys(replayed.compactions).filter((name) => name.startsWith('FAILED'))).toEqual([]);
});

test('before every message of a dialogue with tools, /context shows what is sent', () => {
  expect(replayed.contexts).toEqual({ compared: 9, different: [] });
});

test('a dialogue’s tool outputs stay within their budget in every prompt', () => {
  expect(replayed.mostOutputTokens).toBeGreaterThan(0);
  expect(replayed.overBudget).toBe(0);
  expect(replayed.afterSwap.prompts).toBeGreaterThan(0);
});
