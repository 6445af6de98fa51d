import { describe, expect, test } from 'vitest';
import {
  findAnswer,
  placeName,
  promptName,
  readPromptId,
  type PromptPlace,
} from './answer-names.ts';

const first: PromptPlace = {
  id: 'locomo/conv-26',
  strategy: 'ledger',
  generation: 1,
  kind: 'main',
  number: 1,
};
const hash = '0123456789ab';
const otherHash = 'ba9876543210';

describe('the id of a prompt says what it asks for', () => {
  test.each([
    ['compress-1700000000000', { kind: 'main', number: 1 }],
    ['compress-1700000000000-2', { kind: 'main', number: 2 }],
    ['compress-1700000000000-2-verify', { kind: 'verify', number: 2 }],
    ['compress-1700000000000-verify', { kind: 'verify', number: 1 }],
    ['compress-1700000000000-condense-3', { kind: 'condense', number: 3 }],
    ['something else', { kind: 'main', number: 1 }],
  ] as const)('%s', (promptId, expected) => {
    expect(readPromptId(promptId)).toEqual(expected);
  });
});

describe('the name of a place', () => {
  test.each([
    [first, 'locomo_conv-26.ledger.g1.main'],
    [{ ...first, generation: 3, number: 2 }, 'locomo_conv-26.ledger.g3.main.2'],
    [{ ...first, kind: 'verify' }, 'locomo_conv-26.ledger.g1.verify'],
  ] as const)('%j', (place, name) => {
    expect(placeName(place)).toBe(name);
  });

  test('is followed by the hash in the name of a prompt', () => {
    expect(promptName({ place: first, hash })).toBe(`locomo_conv-26.ledger.g1.main.${hash}`);
  });
});

describe('an answer is found', () => {
  const byHash = `locomo_conv-26.ledger.${hash}`;
  const byPlace = 'locomo_conv-26.ledger.g1.main';
  const byBoth = `${byPlace}.${hash}`;
  const older = `${byPlace}.${otherHash}`;

  test.each([
    { there: [byHash], isLoose: false, found: { name: byHash, by: 'hash' } },
    { there: [byBoth], isLoose: false, found: { name: byBoth, by: 'hash' } },
    { there: [byPlace, byHash], isLoose: true, found: { name: byHash, by: 'hash' } },
    { there: [byPlace], isLoose: true, found: { name: byPlace, by: 'place' } },
    { there: [older], isLoose: true, found: { name: older, by: 'place' } },
    { there: [older, byPlace], isLoose: true, found: { name: byPlace, by: 'place' } },
    { there: [byPlace, older], isLoose: false, found: undefined },
    { there: [`${byPlace}.2`], isLoose: true, found: undefined },
    { there: [`other.ledger.${hash}`], isLoose: true, found: undefined },
    { there: [], isLoose: true, found: undefined },
  ])('among $there, loose: $isLoose', ({ there, isLoose, found }) => {
    const files = [`${byBoth}.prompt.md`, ...there.map((name) => `${name}.answer.txt`)];

    expect(findAnswer(files, { place: first, hash, isLoose })).toEqual(found);
  });
});
