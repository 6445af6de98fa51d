import { describe, expect, test } from 'vitest';
import { createConversationBody } from '#shared/wire/resources/conversations.ts';
import { createUploadBody } from '#shared/wire/resources/uploads.ts';

const lines = [
  [
    'the name of an upload',
    (line: string) =>
      createUploadBody.safeParse({ mimeType: 'image/png', sizeBytes: 1, name: line }).data?.name,
  ],
  [
    'the title of a conversation',
    (line: string) => createConversationBody.safeParse({ title: line }).data?.title,
  ],
] as const;

describe.each(lines)('%s', (_, read) => {
  test.each([
    ['a turn of the direction', 'invoice\u202egnp.exe', 'invoicegnp.exe'],
    ['isolates and marks of direction', '\u2067a\u2069\u200eb\u061c', 'ab'],
    ['what has no width', 'pay\u200bment\ufeff\u00ad\u2060', 'payment'],
    ['tags', 'a\u{e0041}\u{e007f}', 'a'],
  ])('a line for lists is read without %s', (...[, line, shown]) => {
    expect(read(line)).toBe(shown);
  });

  test.each(['Grüße 👩‍🚀 ❤️‍🔥', 'می‌خواهم', 'שלום.png'])('a line for lists keeps %j', (line) => {
    expect(read(line)).toBe(line);
  });

  test.each(['two\nlines', 'a\u001b[8mb', 'a\u2028b', '\u202e', ''])(
    'a line for lists is refused: %j',
    (line) => {
      expect(read(line)).toBeUndefined();
    },
  );
});
