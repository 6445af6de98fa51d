import { describe, expect, test } from 'vitest';
import { estimatePartTokens } from '../../../shared/compaction/token-estimate.ts';
import {
  applyToolOutputBudget,
  type ToolOutputBudgetInput,
} from '../../../shared/compaction/tool-output-budget.ts';
import type { Content } from '../../../shared/conversation/content.ts';

const rule = 'character-class';

function answer(response: Record<string, unknown>, name = 'grep'): Content {
  return { role: 'user', parts: [{ functionResponse: { name, response } }] };
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

const line = 'an ordinary line of output that says little\n';

describe('applyToolOutputBudget', () => {
  test('leaves contents within the budget alone', () => {
    const contents = [answer({ output: 'fine' })];

    const result = apply(contents);

    expect(result.contents[0]).toBe(contents[0]);
    expect(result.offloads).toEqual([]);
    expect(result.tokensAfter).toBe(result.tokensBefore);
  });

  test('holds the total: 100 outputs of 30,000 characters fit into 50,000 tokens', () => {
    const contents = Array.from({ length: 100 }, (_, index) =>
      answer({ output: `${index} ${'word '.repeat(6_000)}` }),
    );

    const result = apply(contents, { budgetTokens: 50_000 });

    const total = result.contents
      .flatMap((content) => content.parts)
      .reduce((sum, part) => sum + estimatePartTokens(part, rule), 0);
    expect(result.tokensBefore).toBeGreaterThan(500_000);
    expect(total).toBe(result.tokensAfter);
    expect(total).toBeLessThanOrEqual(50_000);
    expect(total).toBeGreaterThan(45_000);
  });

  test('keeps the newest output whole and shortens the older one', () => {
    const newest = answer({ output: line.repeat(50) });

    const result = apply([answer({ output: line.repeat(500) }), newest]);

    expect(result.contents[1]).toBe(newest);
    expect(outputOf(result.contents[0])).toContain('read_blob("blob22000")');
    expect(result.offloads).toEqual([{ name: 'blob22000', text: line.repeat(500) }]);
  });

  test('shows the first fifth and the last four fifths of the cap', () => {
    const text = 'a'.repeat(100_000) + 'b'.repeat(100_000);

    const result = apply([answer({ output: text })], { budgetTokens: 20_000 });

    const shown = outputOf(result.contents[0]).split('\n');
    expect(shown[0]).toBe('a'.repeat(8_000));
    expect(shown[1]).toContain('160000 of 200000 characters');
    expect(shown[2]).toBe('b'.repeat(32_000));
  });

  test.each([
    ['content, when there is no output', { content: line.repeat(500) }, line.repeat(500)],
    [
      'the response as JSON otherwise',
      { rows: Array.from({ length: 500 }, () => line) },
      JSON.stringify({ rows: Array.from({ length: 500 }, () => line) }, null, 2),
    ],
    [
      'the response as JSON when much stands beside the output',
      { output: 'x', rest: line.repeat(500) },
      JSON.stringify({ output: 'x', rest: line.repeat(500) }, null, 2),
    ],
  ])('takes %s', (_, response, text) => {
    expect(apply([answer(response)]).offloads[0]?.text).toBe(text);
  });

  test('keeps small fields beside the output', () => {
    const result = apply([answer({ output: line.repeat(500), exitCode: 1 })]);

    expect(responseOf(result.contents[0])['exitCode']).toBe(1);
  });

  test('keeps an error block of the left-out part whole', () => {
    const trace = 'TypeError: x is undefined\n    at run (a.ts:1)\n    at main (b.ts:2)';
    const text = `${line.repeat(300)}${trace}\n${line.repeat(700)}`;

    expect(outputOf(apply([answer({ output: text })]).contents[0])).toContain(trace);
  });

  test('never makes an output longer', () => {
    const contents = Array.from({ length: 50 }, () => answer({ output: 'short' }));

    const result = apply(contents, { budgetTokens: 1 });

    expect(result.offloads).toEqual([]);
    expect(result.tokensAfter).toBe(result.tokensBefore);
  });

  test('cuts no character in two', () => {
    const result = apply([answer({ output: '👨‍👩‍👧‍👦'.repeat(5_000) })]);

    expect(outputOf(result.contents[0]).isWellFormed()).toBe(true);
    expect(outputOf(result.contents[0]).startsWith('👨‍👩‍👧‍👦')).toBe(true);
  });

  test('stores one text once', () => {
    const contents = [answer({ output: line.repeat(500) }), answer({ output: line.repeat(500) })];

    expect(apply(contents).offloads).toHaveLength(1);
  });

  test('leaves what is not a tool output alone', () => {
    const text: Content = { role: 'user', parts: [{ text: line.repeat(500) }] };

    const result = apply([text, answer({ output: line.repeat(500) })]);

    expect(result.contents[0]).toBe(text);
  });
});
