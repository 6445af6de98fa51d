import { expect, test } from 'vitest';
import {
  inheritedSources,
  knownTopics,
} from '#shared/compaction/ledger/verify/inherited-sources.ts';
import { modelItem } from '#test/support/compaction/said-turn.ts';

const known = knownTopics(
  [
    modelItem(1, 'Ana plays the oboe in Porto', { sources: [4, 6] }),
    modelItem(2, 'Leo sings bass in the choir of Lyon', { sources: [9] }),
    modelItem(3, 'Porto', { sources: [11] }),
  ].map((item) => ({ ...item, section: 'key_knowledge' })),
);

test.each<[string, string, number[]]>([
  ['its words in another order', 'In Porto: Ana, oboe', [4, 6]],
  ['several at once', 'Music: Ana plays oboe in Porto; Leo sings bass in a choir', [4, 6, 9]],
  ['half of its telling words', 'Ana lives in Porto', [4, 6]],
  ['one of its words', 'Ana bought a bicycle', []],
  ['an item of one word, which is in many texts', 'A train to Porto', []],
  ['nothing known', 'The weather was fine', []],
])('a merged text cites the turns of the known items it states: %s', (_what, text, sources) => {
  expect(inheritedSources(text, known)).toEqual(sources);
});
