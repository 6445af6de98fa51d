import { describe, expect, test } from 'vitest';
import type { Content } from '#shared/conversation/documents/content.ts';
import { resolvedContents, shownFiles, withinLimits } from '#shared/uploads/files-of-request.ts';
import { mediaPart } from '#shared/uploads/upload-parts.ts';

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

  test('a request counts a repeated file once', () => {
    expect(ids([said(file('a', 40)), said(file('a', 40))], 40)).toEqual(['a']);
  });

  test('a request shows no files that only a model names', () => {
    const named: Content = { role: 'model', parts: [mediaPart(file('a', 1))] };

    expect(ids([named], 100)).toEqual([]);
    expect(resolvedContents([named], new Map())[0]?.parts[0]).not.toHaveProperty('fileData');
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
