import { describe, expect, test } from 'vitest';
import { createStreamEnd } from '#functions/adapters/gemini/gemini-model.ts';
import type { ModelChunk } from '#shared/ports/ports.ts';

const GRACE_MS = 5_000;
const text = (finishReason?: string): ModelChunk => ({
  parts: [{ text: 'a' }],
  ...(finishReason !== undefined && { finishReason }),
});
const finish = (finishReason = 'STOP'): ModelChunk => ({ parts: [], finishReason });
const nothing: ModelChunk = { parts: [] };
const usage: ModelChunk = {
  parts: [],
  usage: { promptTokens: 1, cachedTokens: 0, outputTokens: 1, thoughtsTokens: 0 },
};
const signature: ModelChunk = { parts: [{ text: '', thoughtSignature: 'c2ln' }] };
const thought: ModelChunk = { parts: [{ text: 'hm', thought: true }] };

/** How a stream with these events stands; a number is a wait, ms. */
function endAfter(events: readonly (ModelChunk | number)[]): string {
  const end = createStreamEnd(GRACE_MS);
  for (const event of events)
    if (typeof event !== 'number') end.see(event);
    else if (!end.isWhole()) continue;
    else if (event < end.leftMs()) end.waited(event);
    else return 'taken as whole';
  if (end.isWhole()) return 'whole';
  return end.isOver() ? 'whole if it is closed' : 'open';
}

describe('the end of a stream', () => {
  test.each<[string, string, (ModelChunk | number)[]]>([
    ['text alone', 'open', [text(), text()]],
    ['a finish with the last text', 'whole', [text(), text('STOP')]],
    ['a finish of its own', 'whole', [text(), finish()]],
    ['usage and a signature behind it', 'whole', [text('STOP'), usage, signature, thought]],
    ['a refusal before any word', 'whole', [finish('SAFETY')]],
    ['a refused prompt', 'whole', [{ parts: [], blockReason: 'OTHER' }]],
    ['a finish before any word', 'whole if it is closed', [finish()]],
    ['a finish before and behind the text', 'whole if it is closed', [finish(), text(), finish()]],
    ['a finish on each event', 'whole if it is closed', [text('STOP'), 4_000, text('STOP')]],
    ['more text behind a finish', 'open', [text('STOP'), 4_000, text()]],
    ['more behind events that renew the wait', 'open', [text('STOP'), 4_000, usage, 4_000, text()]],
    [
      'a call behind a finish',
      'open',
      [text('STOP'), { parts: [{ functionCall: { name: 'a', args: {} } }] }],
    ],
    ['silence behind a finish', 'taken as whole', [text('STOP'), 5_000]],
    [
      'events without anything behind a finish',
      'taken as whole',
      [text('STOP'), 3_000, nothing, 3_000, nothing],
    ],
  ])('a model stream with %s is %s', (_, expected, events) => {
    expect(endAfter(events)).toBe(expected);
  });
});
