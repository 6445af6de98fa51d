import { type ReadonlySignal, batch, computed, effect, signal } from '@preact/signals';
import type { Chat } from '#clients/typescript/src/index.ts';
import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';
import type { ContextView } from '#shared/wire/resources/context.ts';
import type { PinListView } from '#shared/wire/resources/pins.ts';
import { createAttempts } from './attempts.ts';
import { toTurns } from './turns.ts';

interface ConversationParts {
  chat: Chat;
  /** Whether what was sent last, or its answer, did not get through. */
  isCut: ReadonlySignal<boolean>;
  /** A message is on its way. */
  onSend: (text: string) => void;
  /** It was there, and is no more. */
  onGone: () => void;
}

interface CompactionPage {
  compactions: CompactionRecordView[];
  nextPageToken?: string;
}

/** What the model would see now, what stays word for word, and the compactions so far. */
function createPrompt(chat: Chat) {
  const shown = signal<ContextView>();
  /** undefined: never asked for, since there was none. */
  const pins = signal<PinListView>();
  /** The newest first. */
  const compactions = signal<readonly CompactionRecordView[]>([]);
  /** Of older compactions; undefined: all are shown. */
  const moreCompactions = signal<string>();
  const readCompactions = (pageToken?: string) =>
    chat.call<CompactionPage>('GET', '/compactions', { query: { pageToken } });

  return {
    shown,
    pins,
    compactions,
    moreCompactions,
    /** Rejects with RecapError. */
    read: async (): Promise<true> => {
      const [context, page] = await Promise.all([
        chat.call<ContextView>('GET', '/context'),
        readCompactions(),
      ]);
      batch(() => {
        shown.value = context;
        compactions.value = page.compactions;
        moreCompactions.value = page.nextPageToken;
      });
      const hadPins = (pins.value?.pins.length ?? 0) > 0;
      if (hadPins || context.items.some(({ kind }) => kind === 'pin'))
        pins.value = await chat.call<PinListView>('GET', '/pins');
      return true;
    },
    /** Rejects with RecapError. */
    loadMoreCompactions: async (): Promise<void> => {
      const page = await readCompactions(moreCompactions.value);
      batch(() => {
        compactions.value = [...compactions.value, ...page.compactions];
        moreCompactions.value = page.nextPageToken;
      });
    },
  };
}

/** Begins to show a conversation, until `leave`. */
export function openConversation({ chat, isCut, onSend, onGone }: ConversationParts) {
  const { problem, attempt } = createAttempts();
  const prompt = createPrompt(chat);
  const state = signal(chat.state);
  const context = computed(() => state.value.context);
  /** The turn that the transcript is to lead to, Infinity: the newest; undefined: it shows what it shows. */
  const target = signal<number>();
  const draft = {
    text: signal(''),
    /** The message that it takes the place of, and its turn; undefined: it is a new one. */
    edited: signal<{ messageId: string; seq: number }>(),
  };
  const clearDraft = (): void => {
    draft.text.value = '';
    draft.edited.value = undefined;
  };

  const unsubscribe = chat.subscribe(() => {
    const wasThere = state.value.transcript.some(({ seq }) => seq !== undefined);
    state.value = chat.state;
    if (wasThere && chat.state.transcript.length === 0) onGone();
  });

  let readOf: string | undefined;
  const stopReading = effect(() => {
    const { isAnswering, isLoaded, transcript } = state.value;
    if (!context.value || isAnswering || !isLoaded) return;
    const { tokens, generation, compaction } = context.value;
    const deleted = transcript.filter(({ isDeleted }) => isDeleted).length;
    const now = JSON.stringify([tokens, generation, compaction, deleted]);
    if (now === readOf) return;
    readOf = now;
    void attempt(prompt.read).then((isRead) => {
      if (!isRead) readOf = undefined;
    });
  });

  /** Runs a call that changes it, and reads what came of that. */
  const change = (work: () => Promise<unknown>): Promise<unknown> =>
    attempt(async () => {
      await work();
      await chat.refresh();
      await prompt.read();
    });

  return {
    ...prompt,
    id: chat.id,
    chat,
    state,
    context,
    turns: computed(() => toTurns(state.value)),
    isCut,
    target,
    problem,
    attempt,
    change,
    draft,
    clearDraft,
    /** Sends what is written, unless that is nothing. */
    send: (): void => {
      const text = draft.text.value.trim();
      const edited = draft.edited.value;
      if (text === '') return;
      clearDraft();
      onSend(text);
      void (edited ? chat.edit(edited.messageId, text) : chat.send(text));
      target.value = Infinity;
    },
    /** Leads to a turn. */
    showTurn: async (seq: number): Promise<void> => {
      if (!state.value.transcript.some((message) => message.seq === seq))
        await attempt(() => chat.loadAround(seq));
      target.value = seq;
    },
    showNewest: async (): Promise<void> => {
      await attempt(chat.loadNewest);
      target.value = Infinity;
    },
    /** Keeps a text word for word in every context; the same id again is the same pin. */
    pin: (pinId: string, text: string) =>
      change(() => chat.call('PUT', `/pins/${pinId}`, { body: { text } })),
    unpin: (pinId: string) => change(() => chat.call('DELETE', `/pins/${pinId}`)),
    leave: (): void => {
      unsubscribe();
      stopReading();
    },
  };
}

/** A conversation that is shown: signals that panes read, and what they may ask of it. */
export type OpenConversation = ReturnType<typeof openConversation>;
