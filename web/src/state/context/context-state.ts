import { batch, signal, type Signal } from '@preact/signals';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';
import type { ContextView } from '#shared/wire/resources/context.ts';
import type { RatingView } from '#shared/wire/resources/ratings.ts';
import type { PinListView } from '#shared/wire/resources/pins.ts';
import type { ConversationApi, ConversationWithContext } from '#web/api/chat-api.ts';
import { observeStatus, type CompactionStep } from './compaction-steps.ts';

/** What is known of a conversation’s context and of its compactions. */
export interface ContextState {
  view: Signal<ConversationWithContext | undefined>;
  context: Signal<ContextObject | undefined>;
  /** What the model would see now. */
  shown: Signal<ContextView | undefined>;
  /** What stays word for word; undefined: never asked for, since there was none. */
  pins: Signal<PinListView | undefined>;
  steps: Signal<readonly CompactionStep[]>;
  /** The newest first. */
  compactions: Signal<readonly CompactionRecordView[]>;
  /** Of older compactions; undefined: all are shown. */
  moreCompactions: Signal<string | undefined>;
  /** From a stream. */
  learn(context: ContextObject): void;
  /** Reads the conversation; `details` reads what has changed of its context, or all of it anew. Both throw ApiError. */
  read(
    isAnew: boolean,
  ): Promise<{ conversation: ConversationWithContext; details: () => Promise<void> }>;
  /** Reads what the model would see, where a change does not show in the conversation. Throws ApiError. */
  refreshItems(): Promise<void>;
  /** Reads the pins. Throws ApiError. */
  refreshPins(): Promise<void>;
  loadMoreCompactions(): Promise<void>;
  /** Says what the user thinks of a compaction, after what was said before. Throws ApiError. */
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

export function createContextState(api: ConversationApi): ContextState {
  const view = signal<ConversationWithContext | undefined>(undefined);
  const context = signal<ContextObject | undefined>(undefined);
  const shown = signal<ContextView | undefined>(undefined);
  const pins = signal<PinListView | undefined>(undefined);
  const steps = signal<readonly CompactionStep[]>([]);
  const compactions = signal<readonly CompactionRecordView[]>([]);
  const moreCompactions = signal<string | undefined>(undefined);

  const learn = (next: ContextObject): void =>
    batch(() => {
      steps.value = observeStatus(steps.value, next.compaction, Date.now());
      context.value = next;
    });

  const refreshPins = async (): Promise<void> => {
    pins.value = await api.pins();
  };

  async function readDetails(): Promise<void> {
    const [items, page] = await Promise.all([api.context(), api.compactions()]);
    batch(() => {
      shown.value = items;
      compactions.value = page.compactions;
      moreCompactions.value = page.nextPageToken;
    });
    const hadPins = (pins.value?.pins.length ?? 0) > 0;
    if (hadPins || items.items.some(({ kind }) => kind === 'pin')) await refreshPins();
  }

  /** Ratings are sent one after the other: the last one is the one that stays. */
  let rated: Promise<unknown> = Promise.resolve();

  const rate: ContextState['rate'] = (generation, score) => {
    const sent = rated.then(() => api.rate(generation, score));
    rated = sent.catch(() => undefined);
    return sent.then((rating) => {
      compactions.value = compactions.value.map((record) =>
        record.generation === generation ? { ...record, rating } : record,
      );
      return rating;
    });
  };

  return {
    rate,
    view,
    context,
    shown,
    pins,
    steps,
    compactions,
    moreCompactions,
    learn,
    read: async (isAnew) => {
      const conversation = await api.read();
      const isToRead = isAnew || isNews(view.value, conversation);
      batch(() => {
        view.value = conversation;
        learn(conversation.context);
      });
      return { conversation, details: isToRead ? readDetails : () => Promise.resolve() };
    },
    refreshItems: async () => {
      const [items] = await Promise.all([api.context(), refreshPins()]);
      shown.value = items;
    },
    refreshPins,
    loadMoreCompactions: async () => {
      const page = await api.compactions(moreCompactions.value);
      batch(() => {
        compactions.value = [...compactions.value, ...page.compactions];
        moreCompactions.value = page.nextPageToken;
      });
    },
  };
}
