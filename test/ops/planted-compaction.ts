import { compactionJobPath, historyPath } from '#shared/conversation/documents/paths.ts';
import { create, fieldsAt, history, remove, update, type Planted } from './planting.ts';

/** Generations. */
export const inHistories: readonly Planted[] = [
  {
    name: 'history-missing',
    at: history(2),
    writes: ({ conversationId: id }) => [remove(historyPath(id, 2))],
  },
  {
    name: 'history-beyond',
    at: history(4),
    writes: (input) => [
      create(historyPath(input.conversationId, 4), {
        ...fieldsAt(input, historyPath(input.conversationId, 3)),
        generation: 4,
        parent: 3,
      }),
    ],
  },
  {
    name: 'history-parent',
    at: history(3),
    writes: ({ conversationId: id }) => [update(historyPath(id, 3), { parent: 1 })],
  },
  {
    name: 'history-unreadable',
    at: history(2),
    writes: ({ conversationId: id }) => [update(historyPath(id, 2), { snapshotJson: 7 })],
  },
  {
    name: 'history-misplaced',
    at: history(4),
    writes: (input) => [
      create(
        historyPath(input.conversationId, 4),
        fieldsAt(input, historyPath(input.conversationId, 3)),
      ),
    ],
  },
  {
    name: 'history-empty',
    at: history(1),
    writes: ({ conversationId: id }) => [update(historyPath(id, 1), { snapshotText: '' })],
  },
];

/** The job of the worker. */
export const inJob: readonly Planted[] = [
  {
    name: 'job-unreadable',
    at: 'jobs/compaction',
    writes: ({ conversationId: id }) => [update(compactionJobPath(id), { fence: 'two' })],
  },
];
