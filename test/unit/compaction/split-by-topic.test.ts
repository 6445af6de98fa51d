import type { SizedTurn } from '#shared/compaction/split-by-tail.ts';
import { adaptiveStart } from '#shared/compaction/split-by-topic.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';
import { expect, test } from 'vitest';

const limits = { targetTokens: 400, capTokens: 600, turnCapTokens: 600, minimumTokens: 100 };

const garden = 'The tomatoes in the garden need water because their leaves turn yellow';
const train = 'The Friday train to Hamburg has free seats near the window';

const turnOf = (seq: number, text: string): Turn => saidTurn(seq, { user: text });

const sizeOf = ({ seq, retention }: Turn): SizedTurn => ({
  seq,
  userTokens: 100,
  blocks: [],
  tokens: 100,
  isDropped: retention === 'drop',
  isResponse: false,
});

const startOf = (turns: readonly Turn[]) => adaptiveStart(turns, turns.map(sizeOf), limits);

/** Ten turns of 100 tokens, of which the last `count` are about trains. */
const talk = (count: number) =>
  Array.from({ length: 10 }, (_, index) => turnOf(index + 1, index < 10 - count ? garden : train));

test.each([
  ['a shorter tail', 3],
  ['the target', 4],
  ['a longer tail', 5],
  ['the cap', 6],
])('the adaptive tail begins where the topic changes: %s', (_, count) => {
  expect(startOf(talk(count))).toBe(10 - count);
});

test.each([
  ['too near the end', 1],
  ['beyond the cap', 8],
  ['nowhere', 0],
])('the adaptive tail keeps the target when the topic changes %s', (_, count) => {
  expect(startOf(talk(count))).toBe(6);
});
