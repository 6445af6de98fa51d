import { cutTextFile, mediaPart } from '#shared/uploads/upload-parts.ts';
import { fileFamily, FILE_TYPE_PATTERN, looksLike } from '#shared/uploads/file-types.ts';
import type { Content } from '#shared/models/content.ts';
import { shownFiles, withinLimits } from '#shared/uploads/files-of-request.ts';
import { describe, expect, test } from 'vitest';

const lines = (count: number, text = 'a line') => Array.from({ length: count }, () => text);

test('a text file for a model loses lines behind the 2,000th and says so', () => {
  const cut = cutTextFile(lines(4_345).join('\n')).split('\n');

  expect(cut).toHaveLength(2_001);
  expect(cut.at(-1)).toBe(
    '[2,345 of 4,345 lines are missing here: the file is cut after line 2,000]',
  );
});

test('a text file for a model loses the end of a long line and says so', () => {
  const cut = cutTextFile(`short\n${'x'.repeat(5_000)}\nafter`);

  expect(cut).toBe(
    `short\n${'x'.repeat(2_000)} [3,000 of 5,000 characters of this line are missing]\nafter`,
  );
});

test('a text file for a model has at most 200,000 characters and names omitted lines', () => {
  const cut = cutTextFile(lines(1_500, 'z'.repeat(999)).join('\n'));

  expect(cut.length).toBeLessThan(200_200);
  expect(cut).toContain('[1,300 of 1,500 lines are missing here: the file is cut after line 200]');
});

const bytesOf = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

const samples: [mimeType: string, beginning: string][] = [
  ['image/png', '\x89PNG\r\n\x1a\n....'],
  ['image/jpeg', '\xff\xd8\xff\xe0..'],
  ['image/webp', 'RIFF....WEBPVP8 '],
  ['image/heic', '\0\0\0\x18ftypheic'],
  ['application/pdf', '%PDF-1.7'],
  ['audio/wav', 'RIFF....WAVEfmt '],
  ['audio/mpeg', 'ID3\x04'],
  ['audio/mpeg', '\xff\xfb\x90\x44'],
  ['audio/ogg', 'OggS\0'],
  ['audio/m4a', '\0\0\0\x20ftypM4A '],
  ['audio/aac', '\xff\xf1\x50'],
  ['audio/flac', 'fLaC\0'],
];

test.each(samples)('the first bytes of %s are recognised', (mimeType, beginning) => {
  expect(looksLike(mimeType, bytesOf(beginning))).toBe(true);
});

test('the first bytes of a text are no binary ones', () => {
  expect(looksLike('text/plain', bytesOf('hello'))).toBe(true);
  expect(looksLike('text/plain', bytesOf('MZ\0\0'))).toBe(false);
});

test.each([
  ['image/png', 'image'],
  ['application/pdf', 'pdf'],
  ['audio/flac', 'audio'],
  ['text/markdown', 'text'],
  ['application/json', 'text'],
  ['image/gif', undefined],
  ['image/svg+xml', undefined],
  ['video/mp4', undefined],
  ['application/zip', undefined],
  ['text/plain; charset=utf-8', undefined],
  ['toString', undefined],
])('the media type %s is of the family %s', (mimeType, family) => {
  expect(fileFamily(mimeType)).toBe(family);
  expect(FILE_TYPE_PATTERN.test(mimeType)).toBe(family !== undefined);
});

const file = (id: string, sizeBytes: number) => ({
  id,
  path: `users/u/uploads/${id}`,
  mimeType: 'image/png',
  sizeBytes,
  name: `${id}.png`,
});
const said = (...files: ReturnType<typeof file>[]): Content => ({
  role: 'user',
  parts: [{ text: 'Look' }, ...files.map(mediaPart)],
});
const ids = (contents: Content[], maxBytes: number) =>
  shownFiles(contents, maxBytes).map(({ id }) => id);

describe('the files that a request shows', () => {
  const contents = [said(file('a', 40)), said(file('b', 30), file('c', 30))];

  test.each([
    [100, ['c', 'b', 'a']],
    [99, ['c', 'b']],
    [60, ['c', 'b']],
    [59, ['c']],
    [29, []],
  ])('a request shows the newest files within %i bytes together: %j', (maxBytes, shown) => {
    expect(ids(contents, maxBytes)).toEqual(shown);
  });
});

describe('the files of one kind in a prompt', () => {
  const video = (name: string) => ({
    fileData: { mimeType: 'video/mp4', fileUri: `https://films.example/${name}` },
  });
  const contents: Content[] = ['a', 'b', 'c'].map((name) => ({
    role: 'user',
    parts: [{ text: name }, video(name)],
  }));

  test('the oldest files of a kind become a line where a prompt may not have as many', () => {
    const [first, ...others] = withinLimits([...contents, said(file('d', 1))], { video: 2 });

    const line = '[attached file (video/mp4): not shown again, newer files have taken its place]';
    expect(first?.parts).toEqual([{ text: 'a' }, { text: line }]);
    expect(others).toEqual([...contents.slice(1), said(file('d', 1))]);
  });
});
