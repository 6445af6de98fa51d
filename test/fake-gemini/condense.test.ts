import { afterEach, describe, expect, test } from 'vitest';
import { type FakeGemini, startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import type { Vices } from '#infra/fake-gemini/server/misbehaviour.ts';
import { condensingContents } from '#shared/compaction/tool-outputs/condense-prompt.ts';
import { ask } from './client.ts';

let fakeGemini: FakeGemini | undefined;
afterEach(() => fakeGemini?.close());

async function condensed(
  lines: readonly string[],
  options: { vices?: Vices; limit?: number } = {},
) {
  fakeGemini = await startFakeGemini({ seed: '1', vices: options.vices });
  const contents = condensingContents({
    text: lines.join('\n'),
    boundary: 'boundary-7f3a',
    maximumCharacters: options.limit ?? 1_000,
  });
  const { text } = await ask(
    fakeGemini,
    { contents },
    { role: 'utility_compressor', promptId: 'request-1-condense-2' },
  );
  return text.split('\n');
}

const filler = Array.from({ length: 50 }, () => 'and so it went on');

describe('a tool output that is to be condensed', () => {
  test('the fake Gemini condenses a tool output to its first lines, failures and figures, in order', async () => {
    const lines = [
      'a',
      'b',
      'c',
      'd',
      'e',
      ...filler,
      'order TK-88341',
      ...filler,
      'it failed',
      'z',
    ];

    expect(await condensed(lines)).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
      'order TK-88341',
      'it failed',
    ]);
  });

  test('the fake Gemini condenses within the limit that the request states', async () => {
    const lines = Array.from({ length: 500 }, (_, index) => `box ${index} of 500`);

    const kept = await condensed(lines, { limit: 300 });

    expect(kept.join('\n').length).toBeLessThanOrEqual(300);
    expect(kept.length).toBeGreaterThan(10);
  });

  test('an inventive fake Gemini alters a condensed output', async () => {
    const [line] = await condensed(['order TK-88341'], { vices: { inventive: 1 } });

    expect(line).toMatch(/^order TK-\d{5}$/u);
    expect(line).not.toBe('order TK-88341');
  });
});
