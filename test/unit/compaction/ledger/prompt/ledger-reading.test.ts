import { describe, expect, test } from 'vitest';
import { readFoldedTurns } from '#shared/compaction/ledger/prompt/ledger-reading.ts';
import { verifyLedger } from '#shared/compaction/ledger/verify/verify-ledger.ts';
import { modelItem, saidTurn, snapshotWith } from '#test/support/compaction/said-turn.ts';

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
  test('a second check reuses the reading of folded turns with the same result', () => {
    const reading = readFoldedTurns(turns);
    const first = checked(reading);

    expect(checked(reading)).toEqual(first);
    expect(checked(readFoldedTurns(turns))).toEqual(first);
  });

  test('the reading of folded turns holds each speaker’s words for cited turns', () => {
    const { evidence } = readFoldedTurns(turns);

    const said = evidence()
      .turns.get(2)
      ?.map(({ speaker, text }) => `${speaker}: ${text}`);
    expect(said).toEqual([
      'user: It costs 1,204.50 dollars.',
      'call: look_up: {}',
      'tool: paid',
      'model: I will pay on 12 May.',
    ]);
    expect(evidence().at(2)).toBe('1970-01-01');
  });

  const sentence = { seq: 1, speaker: 'user', text: 'My order is AB-10042.' } as const;
  test.each([
    { of: 'a sentence of a turn', quotation: sentence, ids: ['identifier ab-10042'] },
    {
      of: 'words of a sentence',
      quotation: { ...sentence, text: 'is AB-10042', of: sentence.text },
      ids: ['identifier ab-10042'],
    },
    {
      of: 'words of a sentence that do not say it',
      quotation: { ...sentence, text: 'My order', of: sentence.text },
      ids: [],
    },
    { of: 'what the turn does not say', quotation: { ...sentence, text: 'Nothing.' }, ids: [] },
    {
      of: 'what another turn says',
      quotation: { ...sentence, text: 'It is CD-2000.' },
      ids: ['identifier cd-2000'],
    },
    {
      of: 'a day that its turn tells',
      quotation: { seq: 2, speaker: 'model', text: 'I will pay on 12 May.' } as const,
      ids: ['date --05-12'],
    },
  ])('the reading of folded turns knows the facts of $of', ({ quotation, ids }) => {
    const { factsIn } = readFoldedTurns(turns);

    expect(factsIn(quotation)).toEqual(ids);
  });
});
