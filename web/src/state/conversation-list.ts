import { batch, signal, type Signal } from '@preact/signals';
import type { ConversationView } from '#shared/wire/resources/conversations.ts';
import { ApiError } from '../api/api-error.ts';
import type { ChatApi } from '../api/chat-api.ts';

/** The caller's conversations, the newest first. */
export interface ConversationList {
  entries: Signal<readonly ConversationView[]>;
  /** Of older ones; undefined: all are shown. */
  more: Signal<string | undefined>;
  /** What did not work; undefined: nothing. */
  problem: Signal<ApiError | undefined>;
  refresh(): Promise<void>;
  loadMore(): Promise<void>;
  /** Resolves to whether it is gone. */
  remove(id: string): Promise<boolean>;
  /** Out of the bin; resolves to whether it is back. */
  takeBack(id: string): Promise<boolean>;
}

export function createConversationList(api: ChatApi): ConversationList {
  const entries = signal<readonly ConversationView[]>([]);
  const more = signal<string | undefined>(undefined);
  const problem = signal<ApiError | undefined>(undefined);

  /** Whether it worked. */
  async function attempt(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      problem.value = undefined;
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      problem.value = error;
      return false;
    }
  }

  const load = (pageToken: string | undefined) => async (): Promise<void> => {
    const page = await api.conversations(pageToken);
    batch(() => {
      const known = pageToken === undefined ? [] : entries.value;
      entries.value = [...known, ...page.conversations];
      more.value = page.nextPageToken;
    });
  };

  const change = (work: () => Promise<unknown>) => attempt(() => work().then(load(undefined)));

  return {
    entries,
    more,
    problem,
    refresh: async () => void (await attempt(load(undefined))),
    loadMore: async () => void (await attempt(load(more.value))),
    remove: (id) => change(api.conversation(id).remove),
    takeBack: (id) => change(api.conversation(id).undelete),
  };
}
