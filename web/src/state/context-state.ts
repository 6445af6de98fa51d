import { batch, signal, type Signal } from '@preact/signals';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';
import type { ContextView } from '#shared/wire/resources/context.ts';
import type { RatingView } from '#shared/wire/resources/ratings.ts';
import type { PinListView } from '#shared/wire/resources/pins.ts';
import type { ConversationApi, ConversationWithContext } from '#web/api/chat-api.ts';

interface ContextSignals {
  view: Signal<ConversationWithContext | undefined>;
  context: Signal<ContextObject | undefined>;
  /** What the model would see now. */
  shown: Signal<ContextView | undefined>;
  /** What stays word for word; undefined: never asked for, since there was none. */
  pins: Signal<PinListView | undefined>;
  /** The newest first. */
  compactions: Signal<readonly CompactionRecordView[]>;
  /** Of older compactions; undefined: all are shown. */
  moreCompactions: Signal<string | undefined>;
}

/** What is known of a conversation’s context and of its compactions. All that returns a promise throws ApiError. */
export interface ContextState extends ContextSignals {
  /** From a stream. */
  learn(context: ContextObject): void;
  /** Reads the conversation; `details` reads what has changed of its context, or all of it anew. */
  read(
    isAnew: boolean,
  ): Promise<{ conversation: ConversationWithContext; details: () => Promise<void> }>;
  refreshPins(): Promise<void>;
  /** Keeps a text word for word in every context; the same id again is the same pin. */
  pin(pinId: string, text: string): Promise<void>;
  unpin(pinId: string): Promise<void>;
  loadMoreCompactions(): Promise<void>;
  /** Says what the user thinks of a compaction, after what was said before. */
  rate(generation: number, score: number): Promise<RatingView>;
}

/** Whether anything but the time has passed between two looks. */
const isNews = (
  before: ConversationWithContext | undefined,
  now: ConversationWithContext,
): boolean =>
  before?.updateTime !== now.updateTime ||
  before.generation !== now.generation ||
  before.context.compaction?.state !== now.context.compaction?.state ||
  before.context.compaction?.jobId !== now.context.compaction?.jobId ||
  before.context.tokens !== now.context.tokens;

/** What is read beside the conversation itself. */
function createReads(api: ConversationApi, signals: ContextSignals) {
  const { shown, pins, compactions, moreCompactions } = signals;
  const refreshPins = async (): Promise<void> => {
    pins.value = await api.pins();
  };
  /** A change of a pin does not show in the conversation. */
  const afterPin = async (): Promise<void> => {
    const [items] = await Promise.all([api.context(), refreshPins()]);
    shown.value = items;
  };
  return {
    refreshPins,
    pin: (pinId: string, text: string) => api.pin(pinId, text).then(afterPin),
    unpin: (pinId: string) => api.unpin(pinId).then(afterPin),
    readDetails: async (): Promise<void> => {
      const [items, page] = await Promise.all([api.context(), api.compactions()]);
      batch(() => {
        shown.value = items;
        compactions.value = page.compactions;
        moreCompactions.value = page.nextPageToken;
      });
      const hadPins = (pins.value?.pins.length ?? 0) > 0;
      if (hadPins || items.items.some(({ kind }) => kind === 'pin')) await refreshPins();
    },
    loadMoreCompactions: async (): Promise<void> => {
      const page = await api.compactions(moreCompactions.value);
      batch(() => {
        compactions.value = [...compactions.value, ...page.compactions];
        moreCompactions.value = page.nextPageToken;
      });
    },
  };
}

/** Ratings are sent one after the other: the last one is the one that stays. */
function createRate(
  api: ConversationApi,
  compactions: ContextSignals['compactions'],
): ContextState['rate'] {
  let rated: Promise<unknown> = Promise.resolve();
  return (generation, score) => {
    const sent = rated.then(() => api.rate(generation, score));
    rated = sent.catch(() => undefined);
    return sent.then((rating) => {
      compactions.value = compactions.value.map((record) =>
        record.generation === generation ? { ...record, rating } : record,
      );
      return rating;
    });
  };
}

export function createContextState(api: ConversationApi): ContextState {
  const signals: ContextSignals = {
    view: signal(),
    context: signal(),
    shown: signal(),
    pins: signal(),
    compactions: signal([]),
    moreCompactions: signal(),
  };
  const { view, context } = signals;
  const { readDetails, ...reads } = createReads(api, signals);

  return {
    ...signals,
    ...reads,
    learn: (next) => {
      context.value = next;
    },
    rate: createRate(api, signals.compactions),
    read: async (isAnew) => {
      const conversation = await api.read();
      const isToRead = isAnew || isNews(view.value, conversation);
      batch(() => {
        view.value = conversation;
        context.value = conversation.context;
      });
      return { conversation, details: isToRead ? readDetails : () => Promise.resolve() };
    },
  };
}
