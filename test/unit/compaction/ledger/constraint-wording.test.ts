import { describe, expect, test } from 'vitest';
import { applyOperations } from '#shared/compaction/ledger/operations/apply-operations.ts';
import { constraintSection } from '#shared/conversation/documents/snapshot.ts';
import { evidence, snapshotWith } from './ledger-samples.ts';

const said =
  'Never delete my drafts. The map goes to Ana in May. Always ask me before you pay a bill.';
const pageLoad = 'The page must load within 320 ms on my machine.';
const turns = evidence({ 2: [`${said} ${pageLoad}`, 'Noted.'] });

const constraintFor = (text: string, quote: string): string[] => {
  const add = { op: 'add' as const, section: constraintSection, text, quote, sources: [2] };
  const { snapshot } = applyOperations(snapshotWith({}), [add], turns);
  return (snapshot.sections[constraintSection] ?? []).map((item) => item.text);
};

describe('S11: the wording of a constraint', () => {
  test.each([
    ['of the sentence that it quotes', 'The user: never delete drafts.', 'Never delete my drafts.'],
    ['of several sentences, each in its own', 'Never delete drafts. Ask before you pay.', said],
  ])('S11: a constraint keeps the model’s wording where its words are %s', (_, text, quote) => {
    expect(constraintFor(text, quote)).toEqual([text]);
  });

  test.each([
    ['puts words of several sentences together', 'Always delete the map before May.', said],
    ['turns never into always', 'Always delete my drafts.', 'Never delete my drafts.'],
    [
      'turns always into never',
      'Never ask me before you pay.',
      'Always ask me before you pay a bill.',
    ],
    ['only names the rule', 'Page load', 'The page must load within 320 ms on my machine.'],
    ['leaves a figure out', 'The page must load on my machine.', pageLoad],
    [
      'puts a not into it',
      'Always do not ask me before you pay.',
      'Always ask me before you pay a bill.',
    ],
  ])('S11: a constraint takes its quote’s wording where it %s', (_, text, quote) => {
    expect(constraintFor(text, quote)).toEqual([quote]);
  });
});
