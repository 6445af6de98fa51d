import { describe, expect, test } from 'vitest';
import { readFoldedTurns } from '../../../../shared/compaction/ledger/ledger-reading.ts';
import { readFacts } from '../../../../shared/compaction/ledger/repair-candidates.ts';
import { verifyLedger } from '../../../../shared/compaction/ledger/verify-ledger.ts';
import { modelItem, saidTurn, snapshotWith } from '../../../support/said-turn.ts';

const turns = [
  saidTurn(1, { user: 'Never call me before 9:30. My order is AB-10042.', model: 'Noted.' }),
  saidTurn(2, { user: 'It costs 1,204.50 dollars.', model: 'I will pay on 12 May.', tool: 'paid' }),
];
const checked = (reading: ReturnType<typeof readFoldedTurns>) =>
  verifyLedger({
    previous: undefined,
    snapshot: snapshotWith({ key_knowledge: [modelItem(1, 'The user ordered something.')] }),
    reading,
    keptTexts: ['See you.'],
    budgetTokens: 2_400,
    counting: { rule: 'character-class' },
    rejected: [],
  });

describe('the reading of folded turns', () => {
  test('gives a second check the same result as a reading of its own', () => {
    const reading = readFoldedTurns(turns);
    const first = checked(reading);

    expect(checked(reading)).toEqual(first);
    expect(checked(readFoldedTurns(turns))).toEqual(first);
  });

  test('holds what each speaker of a turn said, for operations that cite it', () => {
    const { evidence } = readFoldedTurns(turns);

    expect(evidence().turns.get(2)).toEqual({
      user: 'It costs 1,204.50 dollars.',
      talk: 'It costs 1,204.50 dollars.\nI will pay on 12 May.',
      all: 'It costs 1,204.50 dollars.\nlook_up: {}\npaid\nI will pay on 12 May.',
    });
    expect(evidence().at(2)).toBe('1970-01-01');
  });

  test('knows the facts of a sentence by its words and its speaker', () => {
    const { factsIn } = readFoldedTurns(turns);
    const sentence = { speaker: 'user', text: 'My order is AB-10042.' } as const;

    expect(factsIn(sentence)).toEqual(readFacts(sentence));
    expect(factsIn(sentence)).toEqual(['identifier ab-10042']);
    expect(factsIn({ ...sentence, text: 'Nothing.' })).toEqual([]);
  });
});
