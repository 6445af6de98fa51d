import fc from 'fast-check';
import { expect, test } from 'vitest';
import { extractFacts, factIdsIn } from '#shared/compaction/facts/index/extract-facts.ts';
import { factId } from '#shared/compaction/facts/index/fact.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';

const words = fc.constantFrom(
  'Never book room 12.',
  'Please change RES-10042 to',
  'Marta Silva',
  '12 May 2026',
  '€120',
  'tomorrow at 7:30',
  '"the blue one"',
  'src/app.ts',
  'Forget that.',
  '> she wrote:',
  '\n',
  '```',
  'a@b.example',
  '+49 170 1234567',
  'allergic to nuts',
  '3 nights',
  '明天',
  '하루',
);
const texts = fc.array(words, { maxLength: 12 }).map((all) => all.join(' '));
const utterances: fc.Arbitrary<Utterance> = fc.record({
  seq: fc.constant(0),
  speaker: fc.constantFrom('user', 'model', 'call', 'tool'),
  text: texts,
  at: fc.constant(new Date(0)),
});

test('the ids of a single utterance are those of its facts, in order', () => {
  fc.assert(
    fc.property(utterances, (utterance) => {
      const facts = extractFacts([utterance]).map(factId);

      expect(factIdsIn(utterance)).toEqual(facts);
    }),
  );
});
