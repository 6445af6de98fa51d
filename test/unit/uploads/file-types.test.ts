import { describe, expect, test } from 'vitest';
import { fileFamily, FILE_TYPE_PATTERN, looksLike } from '#shared/uploads/file-types.ts';

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

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

describe('the first bytes of a file', () => {
  test.each(samples)('the first bytes of %s are recognised', (mimeType, beginning) => {
    expect(looksLike(mimeType, bytes(beginning))).toBe(true);
  });

  test.each(samples)('the first bytes of a web page are not taken for %s', (mimeType) => {
    expect(looksLike(mimeType, bytes('<!doctype html><script>'))).toBe(false);
  });

  test('the first bytes of a text are no binary ones', () => {
    expect(looksLike('text/plain', bytes('hello'))).toBe(true);
    expect(looksLike('text/plain', bytes('MZ\0\0'))).toBe(false);
  });

  test('the first bytes of an empty file are none of a picture', () => {
    expect(looksLike('image/png', bytes(''))).toBe(false);
  });
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
