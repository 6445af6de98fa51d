import { type FakeGemini, startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { condensingContents } from '#shared/compaction/condense-output.ts';
import { ask } from './client.ts';
import { afterEach, describe, expect, test } from 'vitest';

let fakeGemini: FakeGemini | undefined;
afterEach(() => fakeGemini?.close());

async function condensed(lines: readonly string[], options: { limit?: number } = {}) {
  fakeGemini = await startFakeGemini();
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
  test('the fake Gemini condenses a tool output to its first lines, failures and identifiers, in order', async () => {
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
    const lines = Array.from({ length: 500 }, (_, index) => `box ${70_000 + index} of 500`);

    const kept = await condensed(lines, { limit: 300 });

    expect(kept.join('\n').length).toBeLessThanOrEqual(300);
    expect(kept.length).toBeGreaterThan(10);
  });
});
