import { describe, expect, test } from 'vitest';
import { isBorneOut } from '#shared/compaction/ledger/verify/borne-out.ts';
import { readVocabulary } from '#shared/compaction/ledger/verify/vocabulary.ts';

const vocabularyOf = (said: string) => readVocabulary([said].values());

const said = 'My sister Ana plays the oboe in Porto; we visit her by train in spring.';

describe('what the folded turns bear out', () => {
  test.each([
    ['is what they say in other words', 'Ana, sister of the user: oboist in Porto', said],
    ['is what has one telling word in five of theirs', 'Ana loves baking crusty bread', said],
    ['is a word in another form', 'Visits to Porto are planned', said],
    ['is a line without telling words', 'It was 12 of them', said],
    ['is a paraphrase of two telling words', 'Vegetarian household', said],
    ['is a translation into another script', '安娜住在波尔图，她会吹双簧管', said],
    ['is a note in ideographs', '安娜住在波尔图', '我妹妹安娜住在波尔图，她会吹双簧管。'],
  ])('the check against the folded turns accepts a statement: %s', (_what, text, turns) => {
    expect(isBorneOut(text, vocabularyOf(turns))).toBe(true);
  });

  test.each([
    [
      'is nothing of another conversation',
      'Deployment failed because of missing credentials',
      said,
    ],
    [
      'is no statement with one word in six of theirs',
      'Ana bakes crusty sourdough bread daily',
      said,
    ],
    ['is nothing where nothing was said', 'Ana plays the oboe in Porto', ''],
  ])('the check against the folded turns rejects a statement: %s', (_what, text, turns) => {
    expect(isBorneOut(text, vocabularyOf(turns))).toBe(false);
  });

  test('the folded turns support the item’s earlier statement in other words', () => {
    const earlier = ['The deployment failed; the credentials were missing'];
    const text = 'Deployment failed because of missing credentials';

    expect(isBorneOut(text, vocabularyOf(said), earlier)).toBe(true);
  });
});
