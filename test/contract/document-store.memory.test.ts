import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { describeDocumentStore } from './document-store.suite.ts';

describeDocumentStore('in memory', () => createMemoryDocumentStore());
