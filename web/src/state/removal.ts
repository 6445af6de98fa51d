import { signal, type Signal } from '@preact/signals';
import type { ConversationList } from './conversation-list.ts';
import type { FirstWords } from './answer/first-words.ts';

export interface Removed {
  id: string;
  name: string | undefined;
  /** Forgotten with it in this browser. */
  firstWords: string | undefined;
}

interface Removal {
  /** What was deleted last, until it is taken back or dismissed. */
  removed: Signal<Removed | undefined>;
  /** Into the bin; resolves to whether it is gone. */
  remove(id: string): Promise<boolean>;
  /** Out of it; resolves to its id. */
  takeBack(): Promise<string | undefined>;
}

/** Deletes conversations, with a way back. */
export function createRemoval(
  conversations: Pick<ConversationList, 'entries' | 'remove' | 'takeBack'>,
  firstWords: FirstWords,
): Removal {
  const removed = signal<Removed | undefined>(undefined);
  return {
    removed,
    remove: async (id) => {
      const words = firstWords.of(id);
      const name = conversations.entries.value.find((entry) => entry.id === id)?.title ?? words;
      if (!(await conversations.remove(id))) return false;
      firstWords.forget(id);
      removed.value = { id, name, firstWords: words };
      return true;
    },
    takeBack: async () => {
      const last = removed.value;
      if (!last || !(await conversations.takeBack(last.id))) return undefined;
      if (last.firstWords !== undefined) firstWords.note(last.id, last.firstWords);
      removed.value = undefined;
      return last.id;
    },
  };
}
