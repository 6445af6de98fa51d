import { historiesCollection } from '#shared/conversation/documents/paths.ts';
import type { CompactionBench } from './compaction-dependencies.ts';

/** The histories that the conversation has, at most ten. */
export const historiesOf = (bench: Pick<CompactionBench, 'store'>, conversationId: string) =>
  bench.store.query({ collection: historiesCollection(conversationId), limit: 10 });
