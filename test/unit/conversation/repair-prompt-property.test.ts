import { SKIPPED, signPart, refuseGeneration } from '#infra/fake-gemini/server/refusals.ts';
import { sanitizeHistory } from '#shared/compaction/summariser-input.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { repairContents } from '#shared/conversation/repair/repair-contents.ts';
import { repairPrompt, sendableTurn } from '#shared/conversation/repair/repair-prompt.ts';
import { brokenHistories, wholeHistories } from '#test/support/compaction/broken-histories.ts';
import { searchCases } from '#test/support/search-cases.ts';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';

const RUNS = { numRuns: searchCases(3_000) };
const FEWER_RUNS = { numRuns: searchCases(1_000) };
const models = fc.constantFrom(
  'gemini-2.5-flash',
  'gemini-3-pro-preview',
  'models/gemini-3.8-flash',
);

/** The same with signatures of this model: whose they are is no matter of form. */
const signedBy = (model: string, contents: readonly Content[]): Content[] =>
  contents.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) =>
      part.thoughtSignature === undefined || part.thoughtSignature === SKIPPED
        ? part
        : { ...part, thoughtSignature: signPart(model, part) },
    ),
  }));

const refusalOf = (model: string, contents: readonly Content[]) =>
  refuseGeneration({
    model: model.slice(model.lastIndexOf('/') + 1),
    body: { contents: structuredClone(signedBy(model, contents)) },
    promptTokens: 1,
    windowTokens: 10,
  })?.message;

const isWellFormed = (contents: readonly Content[]) =>
  // JSON writes halves of a pair as escapes, which the text of a whole one never holds.
  !/\\ud[89a-f]/iu.test(JSON.stringify(contents));

/** A call is followed by responses alone, of the same names and ids in the same order. */
function pairsOf(contents: readonly Content[]) {
  return contents.flatMap(({ parts }, index) => {
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    if (calls.length === 0) return [];
    const answers = contents[index + 1]?.parts.map(({ functionResponse }) => functionResponse);
    return [
      {
        calls: calls.map(({ id, name }) => ({ id, name })),
        answers: answers?.map((answer) => ({ id: answer?.id, name: answer?.name })),
      },
    ];
  });
}

describe('repairing any prompt', () => {
  test('a repaired prompt has whole call pairs and characters that the strict model server accepts', () => {
    fc.assert(
      fc.property(brokenHistories, models, (contents, model) => {
        const mended = repairPrompt({ model, contents }).contents;

        expect(refusalOf(model, mended)).toBeUndefined();
        for (const { calls, answers } of pairsOf(mended)) expect(answers).toEqual(calls);
        expect(isWellFormed(mended)).toBe(true);
        expect([mended[0]?.role, mended.at(-1)?.role]).toEqual(['user', 'user']);
      }),
      RUNS,
    );
  });

  test('repairing a prompt twice changes nothing and reports nothing', () => {
    fc.assert(
      fc.property(brokenHistories, models, (contents, model) => {
        const once = repairPrompt({ model, contents }).contents;
        const twice = repairPrompt({ model, contents: once });

        expect(twice.repairs).toBeUndefined();
        expect(twice.contents.every((content, index) => content === once[index])).toBe(true);
        expect(twice.contents).toHaveLength(once.length);
      }),
      RUNS,
    );
  });
});

test('repairing a valid prompt returns the same objects and reports nothing', () => {
  fc.assert(
    fc.property(wholeHistories, models, (contents, model) => {
      const mended = repairPrompt({ model, contents });

      expect(mended.repairs).toBeUndefined();
      expect(mended.contents.every((content, index) => content === contents[index])).toBe(true);
      expect(mended.contents).toHaveLength(contents.length);
    }),
    FEWER_RUNS,
  );
});

test('the sanitised contents of turns and summariser form a valid history', () => {
  fc.assert(
    fc.property(brokenHistories, (contents) => {
      const known = repairContents(contents).contents;

      for (const sent of [sendableTurn(known).contents, sanitizeHistory(known)])
        expect(
          refusalOf('gemini-2.5-flash', repairPrompt({ model: '', contents: sent }).contents),
        ).toBe(undefined);
    }),
    FEWER_RUNS,
  );
});
