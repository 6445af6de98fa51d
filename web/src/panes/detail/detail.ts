import type { Signal } from '@preact/signals';
import type { CompactionDetailView } from '#shared/wire/resources/compaction.ts';
import type { StoredTurn } from '#web/state/turn-pages.ts';

/** What a detail shows, once it is read. */
export interface Detail {
  compaction: CompactionDetailView;
  turns: readonly StoredTurn[];
}

/** What is pointed at: a statement lights its turns, a turn its statements. */
export type Lit = Signal<{ item?: string; seq?: number }>;
