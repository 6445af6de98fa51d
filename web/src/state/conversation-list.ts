import { batch, signal } from '@preact/signals';
import type { ConversationView } from '#shared/wire/resources/conversations.ts';
import type { ChatApi } from '../api/chat-api.ts';
import { createAttempts } from './attempts.ts';
import type { FirstWords } from './first-words.ts';

interface Removed {
  id: string;
  name: string | undefined;
  /** Forgotten with it in this browser. */
  words: string | undefined;
}

/** The caller's conversations, the newest first. */
export function createConversationList(api: ChatApi, firstWords: FirstWords) {
  const entries = signal<readonly ConversationView[]>([]);
  const more = signal<string | undefined>(undefined);
  const { problem, attempt } = createAttempts();
  const removed = signal<Removed | undefined>(undefined);

  const load = async (pageToken?: string): Promise<void> => {
    const page = await api.conversations(pageToken);
    batch(() => {
      const known = pageToken === undefined ? [] : entries.value;
      entries.value = [...known, ...page.conversations];
      more.value = page.nextPageToken;
    });
  };

  /** Whether it worked. */
  async function change(work: () => Promise<unknown>): Promise<boolean> {
    const isDone = await attempt(async () => {
      await work();
      await load();
      return true;
    });
    return isDone ?? false;
  }

  return {
    entries,
    /** Of older ones; undefined: all are shown. */
    more,
    problem,
    /** What was deleted last, until it is taken back or dismissed. */
    removed,
    refresh: () => attempt(() => load()),
    loadMore: () => attempt(() => load(more.value)),
    /** Into the bin; resolves to whether it is gone. */
    remove: async (id: string): Promise<boolean> => {
      const words = firstWords.of(id);
      const name = entries.value.find((entry) => entry.id === id)?.title ?? words;
      if (!(await change(api.conversation(id).remove))) return false;
      firstWords.forget(id);
      removed.value = { id, name, words };
      return true;
    },
    /** Out of the bin with what was deleted last; resolves to its id. */
    takeBack: async (): Promise<string | undefined> => {
      const last = removed.value;
      if (!last || !(await change(api.conversation(last.id).undelete))) return undefined;
      if (last.words !== undefined) firstWords.note(last.id, last.words);
      removed.value = undefined;
      return last.id;
    },
  };
}
