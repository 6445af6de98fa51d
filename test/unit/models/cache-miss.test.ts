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
  modelBefore: 'gemini-3.8-flash',
  model: 'gemini-3.8-flash',
  marksBefore: marks,
  marks,
  isShortened: false,
  idleMs: 60_000,
};

const causes: readonly [string, CacheMiss | 'no miss', Partial<SentPrompt>][] = [
  ['half of the beginning was served', 'no miss', { cachedTokens: 5_000 }],
  ['less than half was served', 'UNEXPLAINED', { cachedTokens: 4_999 }],
  ['nothing was served', 'UNEXPLAINED', {}],
  [
    'nothing is known of the prompt before',
    'UNEXPLAINED',
    { marksBefore: undefined, modelBefore: undefined, idleMs: undefined },
  ],
  ['nothing was said before', 'FIRST_TURN', { change: 'begun', sharedTokens: 0 }],
  [
    'another conversation has the same beginning',
    'no miss',
    { change: 'begun', sharedTokens: 0, cachedTokens: 4_096 },
  ],
  ['a swap came between', 'COMPACTION', { change: 'compacted' }],
  ['a swap left little', 'COMPACTION', { change: 'compacted', sharedTokens: 900 }],
  ['the model has no cache', 'NO_CACHE', { cacheFromTokens: undefined }],
  ['the beginning is shorter than a cache takes', 'TOO_SHORT', { sharedTokens: 4_095 }],
  ['the beginning is as long as a cache takes', 'UNEXPLAINED', { sharedTokens: 4_096 }],
  ['a message was edited', 'EDIT', { change: 'edited' }],
  ['another model answers', 'MODEL', { model: 'gemini-3.1-flash-lite' }],
  ['the instruction is another one', 'INSTRUCTION', { marks: { ...marks, instruction: 'x' } }],
  ['the tools are others', 'TOOLS', { marks: { ...marks, tools: 'x' } }],
  ['the memory is another one', 'MEMORY', { marks: { ...marks, memory: '' } }],
  ['a pin was added', 'PINS', { marks: { ...marks, pins: 'x' } }],
  ['a tool output went out shorter', 'SHORTENED', { isShortened: true }],
  [
    'excerpts stood before the last message, and all before it was served',
    'ASIDE',
    { cachedTokens: 2_000, asideTokens: 7_000 },
  ],
  [
    'excerpts stood before the last message, and all before it is too short',
    'ASIDE',
    { asideTokens: 6_000 },
  ],
  [
    'excerpts stood before the last message, and nothing before it was served',
    'UNEXPLAINED',
    { asideTokens: 1_000 },
  ],
  ['nobody asked for five minutes', 'UNEXPLAINED', { idleMs: 300_000 }],
  ['nobody asked for longer than five minutes', 'IDLE', { idleMs: 300_001 }],
  ['what was served late was served', 'no miss', { idleMs: 3_600_000, cachedTokens: 9_000 }],
];

describe('why a prompt was not served from the cache', () => {
  test.each(causes)('where %s → %s', (_, cause, change) => {
    expect(cacheMiss({ ...missed, ...change }) ?? 'no miss').toBe(cause);
  });
});
