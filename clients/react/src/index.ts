import type { Chat, ChatState, ListName, Recap, RecapError, Row } from '@recap/client';
import {
  createContext,
  createElement,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
  type ReactElement,
  type ReactNode,
} from 'react';

const RecapContext = createContext<Recap | undefined>(undefined);

/** Gives `recap` to the hooks below it: one for each signed-in user, which the app closes at sign-out. */
export function RecapProvider(props: { recap: Recap; children?: ReactNode }): ReactElement {
  return createElement(RecapContext.Provider, { value: props.recap }, props.children);
}

/** The client of the provider above. */
export function useRecap(): Recap {
  const recap = useContext(RecapContext);
  if (!recap) throw new Error('There is no <RecapProvider> above this component.');
  return recap;
}

/** The rows of a list, live. */
export interface Conversations {
  rows: readonly Row[];
  hasMore: boolean;
  isLoaded: boolean;
  /** Why the list cannot be read. */
  problem: RecapError | undefined;
  /** Reads the next page. Rejects with a RecapError. */
  loadMore: () => Promise<void>;
}

/** The user's conversations, live while the component is mounted. */
export function useConversations(name: ListName = 'active'): Conversations {
  const recap = useRecap();
  const list = useMemo(() => recap.list(name), [recap, name]);
  const get = {
    rows: () => list.rows,
    hasMore: () => list.hasMore,
    isLoaded: () => list.isLoaded,
    problem: () => list.problem,
  };
  return {
    rows: useSyncExternalStore(list.subscribe, get.rows, get.rows),
    hasMore: useSyncExternalStore(list.subscribe, get.hasMore, get.hasMore),
    isLoaded: useSyncExternalStore(list.subscribe, get.isLoaded, get.isLoaded),
    problem: useSyncExternalStore(list.subscribe, get.problem, get.problem),
    loadMore: list.loadMore,
  };
}

/** What is shown of a conversation, and what the user can do in it. */
export type UsedChat = ChatState & Omit<Chat, 'state'>;

/**
 * A conversation, read and followed while the component is mounted. Without an id it is a new one, whose `id` stays the
 * same until another is asked for. Its functions stay the same as long as its id does.
 */
export function useChat(id?: string): UsedChat {
  const recap = useRecap();
  // State, not useMemo: React may forget what a memo has, and a draft would become another conversation.
  const [opened, setOpened] = useState(() => ({ recap, id, chat: recap.chat(id) }));
  let { chat } = opened;
  if (opened.recap !== recap || opened.id !== id) {
    chat = recap.chat(id);
    setOpened({ recap, id, chat });
  }
  const getState = (): ChatState => chat.state;
  const state = useSyncExternalStore(chat.subscribe, getState, getState);
  return { ...chat, ...state };
}

/** What is used of AppState of React Native. */
interface AppStateSource {
  addEventListener(type: 'change', listener: (state: string) => void): { remove: () => void };
}

/** In React Native: `useAppState(AppState)` closes connections in the background, and goes on in front. */
export function useAppState(appState: AppStateSource): void {
  const recap = useRecap();
  useEffect(() => {
    const subscription = appState.addEventListener('change', (state) => {
      // `inactive` is a call that rings, or the switch between apps.
      if (state !== 'inactive') recap.setActive(state === 'active');
    });
    return () => subscription.remove();
  }, [appState, recap]);
}
