import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import {
  createMemoryDocumentStore,
  type MemoryStoreHooks,
} from '#infra/local/embedded/memory-document-store.ts';
import { chunksCollection } from '#shared/conversation/documents/paths.ts';
import { decodeStreamChunk } from '#shared/wire/stream-chunk.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { collect, request } from './chat/sending.ts';
import { steeredChat } from './chat/streaming.ts';
import { randomUUID } from 'node:crypto';

/** The chunk documents of the first turn, in order. */
export async function storedChunks(store: DocumentStore, conversationId: string) {
  const collection = chunksCollection(conversationId, 1);
  const documents = await store.query({ collection, limit: 1_000 });
  return documents.map(decodeStreamChunk);
}

/** A turn that is being answered over a store with these hooks. */
export async function speaking(hooks: MemoryStoreHooks = {}) {
  const clock = createManualClock();
  const store = createMemoryDocumentStore(hooks);
  const conversationId = randomUUID();
  const chat = steeredChat({ clock, store });
  const send = request(conversationId, 'Tell me.');
  const handle = await sendMessage(chat.dependencies, send);
  const frames = collect(handle.frames());
  return { ...chat, clock, store, conversationId, send, handle, frames, call: await chat.call() };
}
