import { expect, test } from 'vitest';
import { parseCollectionPattern, parseOwner } from '#infra/ops/import/source.ts';

const path = 'users/{uid}/discussions/{id}/messages';

test.each([
  'users/{uid}',
  ' users/{uid}/messages',
  'users/{uid}/messages\n',
  '__x__/{uid}/messages',
  'users/{uid}/discussions/{uid}/messages',
  'users/{uid}/{collection}',
])('%j is refused as a path', (text) => {
  expect(() => parseCollectionPattern(text)).toThrow('--from');
});

test.each(['', ' ', '\n', 'a/b', ' u1 ', '{uid', '{other}', 'x'.repeat(129)])(
  '%j is refused as an owner',
  (text) => {
    expect(() => parseOwner(text, parseCollectionPattern(path))).toThrow('--owner');
  },
);

test('the owner is a user, or what a parameter of the path stands for', () => {
  const pattern = parseCollectionPattern(path);

  expect(parseOwner('ann', pattern)({ uid: 'bob' })).toBe('ann');
  expect(parseOwner('{uid}', pattern)({ uid: 'bob' })).toBe('bob');
});
