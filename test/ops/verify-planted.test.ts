import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { plantedSuite } from './planted.suite.ts';

plantedSuite('memory', createMemoryDocumentStore);
