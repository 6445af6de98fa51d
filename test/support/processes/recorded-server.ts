import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { startChatServer } from '../chat/chat-server.ts';
import { recordCommits } from '../compaction/commit-rules.ts';

/** The chat function over a store of its own, with every commit that it made. */
export async function startRecordedServer() {
  const recorded = recordCommits();
  const store = createMemoryDocumentStore({ beforeOperation: recorded.beforeOperation });
  return { chat: await startChatServer({ overrides: { store } }), recorded };
}
