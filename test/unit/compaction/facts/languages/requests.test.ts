import { describe, expect, test } from 'vitest';
import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import { requestSpans } from '#shared/compaction/facts/languages/requests.ts';

const found = (text: string) => requestSpans(text).map(({ start, end }) => text.slice(start, end));
const instructionsOf = (text: string) =>
  extractFacts([{ seq: 1, speaker: 'user', text, at: new Date(0) }]).filter(
    ({ kind }) => kind === 'instruction',
  );

describe('what a user asks for', () => {
  test.each([
    'Please use the larger certificate first.',
    'Yes, please rent the film with Spanish subtitles.',
    "I'd like you to sort them by price.",
    'I want to cancel both reservations.',
    'We would like everything in one table.',
    'Bitte das Hotel umbuchen.',
    'Je voudrais annuler mon vol.',
    '请帮我找一家评分4分以上的餐馆。',
    '내일 아침 7시에 알람 설정해 주세요.',
    'ホテルの住所を教えてください。',
  ])('a user’s request is recognised in %j', (text) => {
    expect(found(text)).toEqual([text]);
  });

  test.each([
    'I want to see the sea again.',
    "I'd like a quieter life.",
    'Could you please rent it?',
    'Please wait.',
    'I love you to bits.',
    '> Please use the larger one.',
    '请问电话是多少？',
  ])('no user’s request is recognised in %j', (text) => {
    expect(found(text)).toEqual([]);
  });

  test('a request weighs less than a standing wish, which stays in tier 1', () => {
    const [request] = instructionsOf('Please rent the film in Spanish.');
    const [wish] = instructionsOf('Please never rent a film in Spanish.');

    expect(request).toMatchObject({ tier: 2, weight: 2 });
    expect(wish).toMatchObject({ tier: 1, weight: 8 });
  });
});
