import { afterAll } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { createRemoteStore } from '#infra/local/embedded/remote-store.ts';
import { serveStore } from '#infra/local/embedded/store-server.ts';
import { describeDocumentStore } from './document-store.suite.ts';

const token = 'of this test';
const server = serveStore({
  store: createMemoryDocumentStore(),
  bus: { publish: async () => {} },
  token,
});
afterAll(async () => (await server).close());

describeDocumentStore(
  'in the memory of another process',
  () => createRemoteStore(async () => ({ url: (await server).url, token })).store,
);
