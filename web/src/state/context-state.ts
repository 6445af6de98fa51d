import type { CompactionRecordView } from '#shared/wire/resources/compaction.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { ContextView } from '#shared/wire/resources/context.ts';
import type { PinListView } from '#shared/wire/resources/pins.ts';
import type { ConversationApi, ConversationWithContext } from '#web/api/chat-api.ts';
import { isUnderWay } from './compactions.ts';
import { type ReadonlySignal, batch, effect, signal } from '@preact/signals';

/** Pauses between looks at the context, milliseconds: while something moves, and while it waits. */
export const WATCH_MS = { moving: 400, waiting: 2_000 };

/** A compaction that is due begins within seconds; after that it is one that is not due: little was added. */
const DUE_WITHIN_MS = 15_000;

/** So long a compaction takes; one that shows nothing new for longer waits for its next try. */
const MOVES_WITHIN_MS = 60_000;

/** How long to pause before the next look, where there was nothing new for so long; undefined: nothing is under way. */
export function watchPaceMs(
  context: ContextObject | undefined,
  unchangedMs: number,
): number | undefined {
  if (!context) return undefined;
  if (isUnderWay(context.compaction))
    return unchangedMs < MOVES_WITHIN_MS ? WATCH_MS.moving : WATCH_MS.waiting;
  const isOver = context.thresholdTokens !== null && context.tokens >= context.thresholdTokens;
  return isOver && unchangedMs < DUE_WITHIN_MS ? WATCH_MS.moving : undefined;
}

/** What a change of is news to the watcher. */
const watched = (context: ContextObject | undefined): string =>
  `${context?.tokens} ${context?.compaction?.jobId} ${context?.compaction?.state}`;

/** Looks again and again while a compaction is under way: no stream tells of its stages. */
export function watchContext(watch: {
  context: ReadonlySignal<ContextObject | undefined>;
  /** Reads the context anew; never rejects. */
  look: () => Promise<unknown>;
  left: AbortSignal;
}): void {
  const looks = signal(0);
  let known = '';
  let changedAt = 0;
  const stop = effect(() => {
    const { value } = watch.context;
    void looks.value;
    if (watched(value) !== known) changedAt = Date.now();
    known = watched(value);
    const paceMs = watchPaceMs(value, Date.now() - changedAt);
    if (paceMs === undefined) return undefined;
    // A look that failed is no news, and another one is due.
    const timer = setTimeout(() => void watch.look().then(() => (looks.value += 1)), paceMs);
    return () => clearTimeout(timer);
  });
  watch.left.addEventListener('abort', stop);
}

/** Whether anything but the time has passed between two looks. */
const isNews = (
  before: ConversationWithContext | undefined,
  now: ConversationWithContext,
): boolean =>
  before?.updateTime !== now.updateTime ||
  before.generation !== now.generation ||
  watched(before.context) !== watched(now.context);

/** What is known of a conversation’s context and of its compactions. All that returns a promise throws ApiError. */
export function createContextState(api: ConversationApi) {
  const view = signal<ConversationWithContext>();
  const context = signal<ContextObject>();
  /** What the model would see now. */
  const shown = signal<ContextView>();
  /** What stays word for word; undefined: never asked for, since there was none. */
  const pins = signal<PinListView>();
  /** The newest first. */
  const compactions = signal<readonly CompactionRecordView[]>([]);
  /** Of older compactions; undefined: all are shown. */
  const moreCompactions = signal<string>();

  async function readDetails(): Promise<void> {
    const [items, page] = await Promise.all([api.context(), api.compactions()]);
    batch(() => {
      shown.value = items;
      compactions.value = page.compactions;
      moreCompactions.value = page.nextPageToken;
    });
    const hadPins = (pins.value?.pins.length ?? 0) > 0;
    if (hadPins || items.items.some(({ kind }) => kind === 'pin')) pins.value = await api.pins();
  }

  return {
    view,
    context,
    shown,
    pins,
    compactions,
    moreCompactions,
    loadMoreCompactions: async (): Promise<void> => {
      const page = await api.compactions(moreCompactions.value);
      batch(() => {
        compactions.value = [...compactions.value, ...page.compactions];
        moreCompactions.value = page.nextPageToken;
      });
    },
    /** Reads the conversation; `details` reads what has changed of its context, or all of it anew. */
    read: async (isAnew: boolean) => {
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
