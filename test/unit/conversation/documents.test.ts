import { cutIntoPieces } from '#shared/conversation/documents/turn.ts';
import fc from 'fast-check';
import { uidFault } from '#functions/chat/http/authenticate.ts';
import { readableParts, type Content, type Part } from '#shared/models/content.ts';
import { userPath } from '#shared/conversation/documents/paths.ts';
import { checkDocumentPath } from '#shared/store/names.ts';
import { expect, test } from 'vitest';

const bytes = (text: string) => new TextEncoder().encode(text).length;

test('JSON pieces join to the text, fit the limit and never split a surrogate pair', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.integer({ min: 4, max: 40 }),
      (text, limit) => {
        const pieces = cutIntoPieces(text, limit);

        expect(pieces.join('')).toBe(text);
        for (const piece of pieces) {
          expect(bytes(piece)).toBeLessThanOrEqual(limit);
          expect(piece.isWellFormed()).toBe(true);
        }
      },
    ),
  );
});

const model = (...parts: Part[]): Content => ({ role: 'model', parts });
const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
const call = { functionCall: { name: 'look', args: {} } };
const signed = (text: string): Part => ({ text, thoughtSignature: 'c2ln' });

test.each<[string, Content, Part[]]>([
  [
    'signed pieces of one word',
    model({ text: 'QX-' }, signed('77'), { text: '19.' }),
    [{ text: 'QX-7719.' }],
  ],
  [
    'thoughts and lone signatures within a word',
    model(
      { text: 'QX-' },
      { text: 'hm', thought: true },
      signed(''),
      { thoughtSignature: 'c2ln' },
      signed('77'),
    ),
    [{ text: 'QX-77' }],
  ],
  [
    'a blank piece between words',
    model({ text: 'two' }, signed(' '), { text: 'words' }),
    [{ text: 'two words' }],
  ],
  [
    'text around a picture and a call',
    model({ text: 'a' }, picture, signed('b'), { text: 'c' }, call, { text: 'd' }),
    [{ text: 'a' }, picture, { text: 'bc' }, call, { text: 'd' }],
  ],
  [
    'what a user sent in parts',
    { role: 'user', parts: [{ text: 'a' }, { text: 'b' }, { text: '' }] },
    [{ text: 'a' }, { text: 'b' }],
  ],
])('read %s as people do', (_, content, expected) => {
  expect(readableParts(content)).toEqual(expected);
});

test.each([
  ['alice', 'users/alice'],
  ['a/b', 'users/a%2Fb'],
  ['a%2Fb', 'users/a%252Fb'],
  ['.', 'users/%2E'],
  ['..', 'users/%2E.'],
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
