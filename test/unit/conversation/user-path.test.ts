import { describe, expect, test } from 'vitest';
import { userPath } from '../../../shared/conversation/paths.ts';
import { checkDocumentPath } from '../../../shared/store/names.ts';

describe('the path of a user', () => {
  test.each([
    ['alice', 'users/alice'],
    ['a/b', 'users/a%2Fb'],
    ['a%2Fb', 'users/a%252Fb'],
    ['.', 'users/%2E'],
    ['..', 'users/%2E.'],
    ['...', 'users/...'],
    ['__name__', 'users/%5F_name__'],
    ['__', 'users/__'],
    ['%2E', 'users/%252E'],
  ])('of %s is %s, which a document can have', (uid, path) => {
    expect(userPath(uid)).toBe(path);
    expect(() => checkDocumentPath(path)).not.toThrow();
  });
});
