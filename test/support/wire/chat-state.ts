/** What `AbstractChat` of the AI SDK keeps its messages in; React, Vue and Svelte have one each. */
interface PlainChatState<Message> {
  status: 'submitted' | 'streaming' | 'ready' | 'error';
  error: Error | undefined;
  messages: Message[];
  pushMessage: (message: Message) => void;
  popMessage: () => void;
  replaceMessage: (index: number, message: Message) => void;
  snapshot: <T>(value: T) => T;
}

/** State without a framework around it: what a hook renders, a test reads. */
export function chatState<Message>(messages: readonly Message[] = []): PlainChatState<Message> {
  const state: PlainChatState<Message> = {
    status: 'ready',
    error: undefined,
    messages: [...messages],
    pushMessage: (message) => {
      state.messages = [...state.messages, message];
    },
    popMessage: () => {
      state.messages = state.messages.slice(0, -1);
    },
    replaceMessage: (index, message) => {
      state.messages = state.messages.with(index, structuredClone(message));
    },
    snapshot: (value) => structuredClone(value),
  };
  return state;
}
