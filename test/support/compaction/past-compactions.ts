import { randomUUID } from 'node:crypto';
import { encodeHistory, type History } from '#shared/conversation/documents/history.ts';
import {
  freshJob,
  type CompactionJob,
  type CompactionRecord,
} from '#shared/conversation/documents/job.ts';
import {
  compactionJobPath,
  conversationPath,
  historyPath,
} from '#shared/conversation/documents/paths.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';

/** An attempt that ended at `at`, in milliseconds since 1970; without `changes` one that changed nothing. */
export const record = (at: number, changes: Partial<CompactionRecord> = {}): CompactionRecord => ({
  requestId: randomUUID(),
  state: 'NOOP',
  trigger: 'auto',
  requestedAt: new Date(at),
  finishedAt: new Date(at),
  beforeTokens: 100,
  afterTokens: 100,
  turnsFolded: 0,
  modelCalls: 0,
  durationMs: 1,
  reason: 'BELOW_THRESHOLD',
  ...changes,
});

/** A job that nobody holds and that has had one worker; `changes` say otherwise. */
const jobWith = (changes: Partial<CompactionJob> = {}): CompactionJob => ({
  ...freshJob,
  fence: 1,
  records: [],
  ...changes,
});

/** The job document of a conversation that has none yet; without `job` a free one. */
export const writeJob = (
  store: Pick<DocumentStore, 'commit'>,
  conversationId: string,
  job: Partial<CompactionJob>,
) =>
  store.commit([
    {
      op: 'create',
      path: compactionJobPath(conversationId),
      fields: {
        ...jobWith(job),
        records: (job.records ?? []).map((each) => ({ ...each })),
      },
    },
  ]);

/** The document that the swap to `generation` left at `at`, in milliseconds since 1970. */
export const history = (generation: number, at: number): History => ({
  schemaVersion: 1,
  generation,
  parent: generation - 1,
  state: 'COMPACTED',
  strategy: 'gemini-cli',
  trigger: 'manual',
  requestId: randomUUID(),
  coveredThrough: { seq: generation, contentIndex: 0 },
  from: generation,
  turnsFolded: 1,
  beforeTokens: 1_234,
  afterTokens: 567,
  snapshotTokens: 10,
  boundary: 'b',
  snapshotText: 'text',
  model: 'm',
  promptVersion: '1',
  modelCalls: 2,
  usage: { promptTokens: 5, outputTokens: 6 },
  requestedAt: new Date(at - 10),
  createTime: new Date(at),
  durationMs: 10,
  by: 'w',
  snapshot: null,
  report: { checks: 3 },
});

/** Histories from the first generation on, and the conversation document at the last of them. */
export async function writeHistories(
  store: Pick<DocumentStore, 'commit'>,
  conversationId: string,
  histories: readonly History[],
) {
  await store.commit([
    ...histories.map((each) => ({
      op: 'create' as const,
      path: historyPath(conversationId, each.generation),
      fields: encodeHistory(each),
    })),
    {
      op: 'update' as const,
      path: conversationPath(conversationId),
      fields: { generation: histories.length },
      guard: { exists: true as const },
    },
  ]);
}
