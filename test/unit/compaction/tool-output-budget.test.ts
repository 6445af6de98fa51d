import {
  applyToolOutputBudget,
  type ToolOutputBudgetInput,
} from '#shared/conversation/context/tool-output-budget.ts';
import { emptiedResponse } from '#shared/conversation/context/tool-calls.ts';
import type { Content } from '#shared/models/content.ts';
import { estimatePartTokens } from '#shared/tokens/token-estimate.ts';
import { expect, test } from 'vitest';
import fc from 'fast-check';

const rule = 'character-class';

function answer(response: Record<string, unknown>): Content {
  return { role: 'user', parts: [{ functionResponse: { name: 'grep', response } }] };
}

function responseOf(content: Content | undefined): Record<string, unknown> {
  return content?.parts[0]?.functionResponse?.response ?? {};
}

function outputOf(content: Content | undefined): string {
  return String(responseOf(content)['output']);
}

function apply(contents: readonly Content[], options: Partial<ToolOutputBudgetInput> = {}) {
  return applyToolOutputBudget({
    contents,
    budgetTokens: 1_000,
    rule,
    blobName: (text) => `blob${text.length}`,
    ...options,
  });
}

/** As long as a real one. */
const hashLike = (text: string) => String(text.length).padStart(64, 'a1');

const tokensIn = (contents: readonly Content[]) =>
  contents
    .flatMap(({ parts }) => parts)
    .reduce((sum, part) => sum + estimatePartTokens(part, rule), 0);

test('applyToolOutputBudget leaves contents within the budget alone', () => {
  const contents = [answer({ output: 'fine' })];

  const result = apply(contents);

  expect(result.contents[0]).toBe(contents[0]);
  expect(result.tokensAfter).toBe(result.tokensBefore);
});

test('applyToolOutputBudget never makes an output longer', () => {
  const contents = Array.from({ length: 50 }, () => answer({ ok: true }));

  const result = apply(contents, { budgetTokens: 1 });

  expect(result.contents).toEqual(contents);
  expect(result.tokensAfter).toBe(result.tokensBefore);
});

test('applyToolOutputBudget gives the oldest outputs the shortest form', () => {
  const contents = Array.from({ length: 600 }, (_, index) =>
    answer({ output: `${index} ${'word '.repeat(400)}`, exitCode: 0 }),
  );

  const { contents: shown } = apply(contents, { budgetTokens: 40_000, blobName: hashLike });

  const forms = shown.map((content) => {
    const output = outputOf(content);
    if ('omitted' in responseOf(content)) return 'emptied';
    if (output.startsWith('[')) return 'marker';
    return output.includes('left out') ? 'cut' : 'whole';
  });
  expect([...new Set(forms)]).toEqual(['emptied', 'marker', 'cut', 'whole']);
});

test('applyToolOutputBudget empties an output with media and keeps name and id', () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'aaaa' } };
  const call = { id: 'call-1', name: 'look' };
  const functionResponse = { ...call, response: { output: 'a picture' }, parts: [image] };
  const content: Content = { role: 'user', parts: [{ functionResponse }] };

  const { contents } = apply([content], { budgetTokens: 1, blobName: hashLike });

  expect(contents).toEqual([
    {
      role: 'user',
      parts: [{ functionResponse: { ...call, response: { omitted: true } } }],
    },
  ]);
});

test('applyToolOutputBudget exceeds the budget by at most one word an output', () => {
  const outputs = fc.record({
    count: fc.integer({ min: 1, max: 800 }),
    lengths: fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 20 }),
    budgetTokens: fc.integer({ min: 0, max: 20_000 }),
  });
  fc.assert(
    fc.property(outputs, ({ count, lengths, budgetTokens }) => {
      const contents = Array.from({ length: count }, (_, index) =>
        answer({ output: `${index} `.padEnd(lengths[index % lengths.length] ?? 0, 'words ') }),
      );
      const { contents: shown, ...result } = apply(contents, {
        budgetTokens,
        blobName: hashLike,
      });

      const floor = contents.reduce((sum, content) => {
        const whole = tokensIn([content]);
        const [part = {}] = content.parts;
        return sum + Math.min(whole, estimatePartTokens(emptiedResponse(part), rule));
      }, 0);
      expect(result.tokensAfter).toBe(tokensIn(shown));
      expect(result.tokensAfter).toBeLessThanOrEqual(Math.max(budgetTokens, floor));
      expect(shown.every(({ parts }) => parts[0]?.functionResponse?.name === 'grep')).toBe(true);
    }),
    { numRuns: 20 },
  );
}, 60_000);
