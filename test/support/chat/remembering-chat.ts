import { showContext } from '#functions/chat/context/show-context.ts';
import { createConversation } from '#functions/chat/conversations/write-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Note } from '#shared/memory/note.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { appNoteOf } from '#test/unit/memory/notes.ts';
import { compactOnce, manualRequest } from '../compaction/compacted-conversation.ts';
import { compactionBench } from '../compaction/compaction-dependencies.ts';
import { notesOf, storeNotes } from '../notes.ts';
import { chatDependencies } from './chat-dependencies.ts';
import { randomUUID } from 'node:crypto';

const alice = { uid: 'alice', tier: 'signedIn' } as const;

/** Chat and the worker of an app with a memory, and its user alice. */
export function rememberingChat(
  options: { app?: string; environment?: Record<string, string> } = {},
) {
  const streamer = scriptedStreamer(textAnswer('Fine.'));
  const chat = chatDependencies({ model: streamer.model }, options.environment);
  const notes = options.app === undefined ? [] : [appNoteOf('a', { text: options.app })];
  const appMemory = { notes: () => notes, refresh: () => Promise.resolve() };
  const dependencies = { ...chat, config: { ...chat.config, appMemory } };
  const bench = compactionBench({ store: chat.store, cache: chat.cache });
  const worker = { ...bench, config: { ...bench.config, appMemory } };
  const { store } = chat;
  return {
    store,
    save: (saved: readonly Note[], uid = 'alice') => storeNotes(store, uid, saved),
    revision: async () => (await notesOf(store, 'alice')).revision,
    begin: async () =>
      (await createConversation(dependencies, { caller: alice, fields: {} })).conversationId,
    /** The prompt of one message. */
    send: async (conversationId: string, text: string, uid = 'alice') => {
      const message = { id: randomUUID(), parts: [{ text }] };
      const caller = { ...alice, uid };
      const handle = await sendMessage(dependencies, { caller, conversationId, message });
      await handle.result;
      return streamer.requests.at(-1)?.contents ?? [];
    },
    show: (conversationId: string) => showContext(dependencies, { caller: alice, conversationId }),
    compact: async (conversationId: string) => {
      const conversation = await readConversation(store, conversationId);
      if (!conversation) throw new Error('there is no head');
      const compactionRequests = manualRequest(randomUUID());
      await store.commit([
        {
          op: 'update',
          path: conversationPath(conversationId),
          fields: { compactionRequests },
          guard: { updateTime: conversation.updateTime },
        },
      ]);
      return compactOnce(worker, conversationId);
    },
    conversation: async (conversationId: string) => {
      const conversation = await readConversation(store, conversationId);
      if (!conversation) throw new Error('there is no head');
      return conversation.value;
    },
  };
}
