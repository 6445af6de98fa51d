import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { userPath } from '#shared/conversation/documents/paths.ts';
import { uidFault } from '#functions/chat/http/authenticate.ts';
import { checkDocumentPath } from '#shared/store/names.ts';

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
  ])('the user path of %s is %s, which a document can have', (uid, path) => {
    expect(userPath(uid)).toBe(path);
    expect(() => checkDocumentPath(path)).not.toThrow();
  });

  test('the user path is valid for every accepted uid', () => {
    const unit = fc.nat({ max: 0xff_ff }).map((code) => String.fromCharCode(code));
    const uids = fc.string({ unit, maxLength: 128 }).map((uid) => uid.toWellFormed());

    fc.assert(
      fc.property(uids, (uid) => {
        fc.pre(uidFault(uid) === undefined);
        expect(() => checkDocumentPath(userPath(uid))).not.toThrow();
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['', 'is empty'],
    ['a\uD800', 'holds half of a surrogate pair'],
    ['x'.repeat(129), 'has 129 characters; at most 128 are taken'],
    ['x'.repeat(128), undefined],
    ['\0\n👩‍🚀', undefined],
  ])('the user path is not requested for an invalid uid: %j', (uid, fault) => {
    expect(uidFault(uid)).toBe(fault);
  });
});
