import { expect, test } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { verifyWorld } from '../support/compaction/verifying.ts';
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
