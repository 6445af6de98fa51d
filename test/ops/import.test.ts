import { expect, test } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { verifyWorld } from '../support/compaction/verifying.ts';
import { sentAt, transcript } from '../support/import/extension.ts';
import { run, storedDiscussion } from '../support/import/import-world.ts';
import { ops } from '../support/processes/ops.ts';
import { importSuite } from './import.suite.ts';

importSuite('memory', () => ({ store: createMemoryDocumentStore(), tree: undefined }));

test.each([
  ['users/{uid}', '--from takes the path of a collection'],
  ['users/{uid}/{any}/{id}/messages', 'only documents may be parameters'],
  ['generate', 'whose are the conversations?'],
])('an import from %s is refused with the reason', async (from, why) => {
  const { code, err } = await ops(verifyWorld(), ['import', '--from', from]);

  expect(code).toBe(2);
  expect(err).toContain(why);
});

test('a turn has the time that the extension wrote, whatever field orders its discussion', async () => {
  const world = { ...verifyWorld(), tree: undefined };
  const { conversationId } = await storedDiscussion(world, {
    a: { prompt: 'Second?', response: 'Yes.', createTime: sentAt(5), place: 2 },
    b: { prompt: 'First?', response: 'No.', createTime: sentAt(6), place: 1 },
  });

  await run(world, '--order-field', 'place', '--yes');

  const turns = await transcript(world.store, conversationId, 2);
  expect(turns.map(({ said: [prompt], createTime }) => [prompt, createTime])).toEqual([
    ['First?', sentAt(6)],
    ['Second?', sentAt(5)],
  ]);
});
