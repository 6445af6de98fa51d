import { describe, expect, test } from 'vitest';
import { withFiles } from '#functions/adapters/gemini/gemini-files.ts';
import type { Content, Part } from '#shared/conversation/documents/content.ts';
import type { FileBucket } from '#shared/ports/file-ports.ts';
import { mediaPart } from '#shared/uploads/upload-parts.ts';
import { createMemoryBucket } from '#test/fakes/memory-bucket.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';

const bytes = Buffer.from('receipt');
const path = 'users/u1/uploads/receipt';
const receipt = { id: 'receipt', path, mimeType: 'image/png', sizeBytes: bytes.length };
const sent: Content = { role: 'user', parts: [{ text: 'My receipt' }, mediaPart(receipt)] };

/** Compacts a conversation whose first message names the receipt; what the summariser got. */
async function compacted(files: FileBucket, modelReadsBucket = false) {
  const scripted = createScriptedModel({ answers: [snapshotAnswer()] });
  const stream = () => {
    throw new Error('a worker does not stream');
  };
  const resolving = withFiles({ ...scripted, stream }, { files, modelReadsBucket });
  const bench = compactionBench({ files });
  const worker = { ...bench, model: Object.assign(Object.create(scripted), resolving) };
  const conversationId = await buildDue(bench, {
    turns: [{ user: sent }, ...Array.from({ length: 19 }, () => ({}))],
  });
  const result = await compactOnce(worker, conversationId);
  const parts: Part[] = scripted.calls
    .flatMap(({ contents }) => contents)
    .flatMap((content) => content.parts);
  return { result, parts };
}

describe('an uploaded picture in a folded turn', () => {
  test('an uploaded picture in a folded turn is shown to the summariser, named by its turn', async () => {
    const files = createMemoryBucket();
    await files.put(await files.signUpload(receipt), bytes);

    const { result, parts } = await compacted(files);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(parts[0]?.text).toContain('user attachment 1: image/png');
    const data = bytes.toString('base64');
    expect(parts).toContainEqual({ inlineData: { mimeType: 'image/png', data } });
  });

  test('an uploaded picture is named by its bucket address where the model reads that', async () => {
    const files = createMemoryBucket();
    await files.put(await files.signUpload(receipt), bytes);

    const { parts } = await compacted(files, true);

    const fileUri = `gs://memory/${path}`;
    expect(parts).toContainEqual({ fileData: { mimeType: 'image/png', fileUri } });
  });

  test.each([true, false])(
    'a missing upload is described in words, and the compaction succeeds (model reads bucket: %s)',
    async (modelReadsBucket) => {
      const { result, parts } = await compacted(createMemoryBucket(), modelReadsBucket);

      expect(result).toMatchObject({ state: 'COMPACTED' });
      expect(parts).toContainEqual({ text: '[attached file (image/png): it has been deleted]' });
    },
  );
});
