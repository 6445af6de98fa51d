import { expect, test } from 'vitest';
import { withFiles } from '#functions/adapters/gemini/gemini-files.ts';
import type { Content } from '#shared/models/content.ts';
import { mediaPart } from '#shared/uploads/upload-parts.ts';
import { createMemoryBucket } from '#test/fakes/memory-bucket.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';

const MIB = 1_024 * 1_024;
const never = new AbortController().signal;

/** A model before a bucket with two files, and which of them were read. */
async function withTwoFiles(sizeBytes: number) {
  const bucket = createMemoryBucket();
  const read: string[] = [];
  const files = {
    ...bucket,
    read: (path: string, options: { maxBytes: number }) => {
      read.push(path);
      return bucket.read(path, options);
    },
  };
  const says = (path: string): Content => ({
    role: 'user',
    parts: [mediaPart({ id: path, path, mimeType: 'image/png', sizeBytes })],
  });
  for (const path of ['a', 'b']) {
    const request = await bucket.signUpload({ path, mimeType: 'image/png', sizeBytes });
    await bucket.put(request, new Uint8Array(sizeBytes));
  }
  const stream = () => {
    throw new Error('nobody streams');
  };
  const scripted = createScriptedModel({ answers: [] });
  const model = withFiles({ ...scripted, stream }, { files, modelReadsBucket: false });
  const count = (...paths: string[]) =>
    model.countTokens({ model: 'gemini-3.8-flash', contents: paths.map(says) }, never);
  return { read, count, counted: scripted.counted };
}

test('the file cache holds one full request and evicts the least recently used', async () => {
  const { read, count } = await withTwoFiles(15 * MIB);

  for (const path of ['a', 'b', 'b', 'a']) await count(path);

  expect(read).toEqual(['a', 'b', 'a']);
});

test('a request carries the newest files up to 20 MB, and a line for older ones', async () => {
  const { read, count, counted } = await withTwoFiles(15 * MIB);

  await count('a', 'b');

  expect(read).toEqual(['b']);
  const parts = counted[0]?.contents.flatMap((content) => content.parts) ?? [];
  expect(parts[0]?.text).toBe(
    '[attached file (image/png): not shown again, newer files have taken its place]',
  );
  expect(parts[1]).toHaveProperty('inlineData.data.length', 20 * MIB);
});
