import { describe, expect, test } from 'vitest';
import { cacheMiss, type CacheMiss, type SentPrompt } from '#shared/models/cache-miss.ts';

const marks = { instruction: 'a', tools: 'b', memory: 'c', pins: 'd' };

/** Ten thousand tokens that the prompt before began with as well, of which the cache had none, a minute later. */
const missed: SentPrompt = {
  cachedTokens: 0,
  sharedTokens: 10_000,
  asideTokens: 0,
  cacheFromTokens: 4_096,
  change: 'none',
  modelBefore: 'gemini-3.5-flash',
  model: 'gemini-3.5-flash',
  marksBefore: marks,
  marks,
  isShortened: false,
  idleMs: 60_000,
};

const causes: readonly [string, Partial<SentPrompt>, CacheMiss | undefined][] = [
  ['half of the beginning was served', { cachedTokens: 5_000 }, undefined],
  ['less than half was served', { cachedTokens: 4_999 }, 'UNEXPLAINED'],
  ['nothing was served', {}, 'UNEXPLAINED'],
  [
    'nothing is known of the prompt before',
    { marksBefore: undefined, modelBefore: undefined, idleMs: undefined },
    'UNEXPLAINED',
  ],
  ['nothing was said before', { change: 'begun', sharedTokens: 0 }, 'FIRST_TURN'],
  [
    'another conversation has the same beginning',
    { change: 'begun', sharedTokens: 0, cachedTokens: 4_096 },
    undefined,
  ],
  ['a swap came between', { change: 'compacted' }, 'COMPACTION'],
  ['a swap left little', { change: 'compacted', sharedTokens: 900 }, 'COMPACTION'],
  ['the model has no cache', { cacheFromTokens: undefined }, 'NO_CACHE'],
  ['the beginning is shorter than a cache takes', { sharedTokens: 4_095 }, 'TOO_SHORT'],
  ['the beginning is as long as a cache takes', { sharedTokens: 4_096 }, 'UNEXPLAINED'],
  ['a message was edited', { change: 'edited' }, 'EDIT'],
  ['another model answers', { model: 'gemini-3.1-flash-lite' }, 'MODEL'],
  ['the instruction is another one', { marks: { ...marks, instruction: 'x' } }, 'INSTRUCTION'],
  ['the tools are others', { marks: { ...marks, tools: 'x' } }, 'TOOLS'],
  ['the memory is another one', { marks: { ...marks, memory: '' } }, 'MEMORY'],
  ['a pin was added', { marks: { ...marks, pins: 'x' } }, 'PINS'],
  ['a tool output went out shorter', { isShortened: true }, 'SHORTENED'],
  [
    'excerpts stood before the last message, and all before it was served',
    { cachedTokens: 2_000, asideTokens: 7_000 },
    'ASIDE',
  ],
  [
    'excerpts stood before the last message, and all before it is too short',
    { asideTokens: 6_000 },
    'ASIDE',
  ],
  [
    'excerpts stood before the last message, and nothing before it was served',
    { asideTokens: 1_000 },
    'UNEXPLAINED',
  ],
  ['nobody asked for five minutes', { idleMs: 300_000 }, 'UNEXPLAINED'],
  ['nobody asked for longer than five minutes', { idleMs: 300_001 }, 'IDLE'],
  ['what was served late was served', { idleMs: 3_600_000, cachedTokens: 9_000 }, undefined],
];

describe('why a prompt was not served from the cache', () => {
  test.each(causes)('a prompt of which %s', (_, change, cause) => {
    expect(cacheMiss({ ...missed, ...change })).toBe(cause);
  });
});
