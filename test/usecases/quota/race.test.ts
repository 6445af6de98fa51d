import { describe } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { raceTests } from './race.suite.ts';

describe('one user, many messages at once, on the embedded store', () => {
  const store = createMemoryDocumentStore();
  raceTests(() => store);
});
