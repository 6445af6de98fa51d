import { conversationPath, recallPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { PAST, remove, turn, update, type Planted } from './planting.ts';

const need = (since: Date) => ({ requestId: 'planted', since, trigger: 'auto' });

/** The context, its meter and its needs. */
export const inContext: readonly Planted[] = [
  {
    name: 'head-unreadable',
    kind: 'a negative meter',
    at: '',
    writes: ({ conversationId: id }) => [update(conversationPath(id), { 'context.tokens': -1 })],
  },
  {
    name: 'covered-differs',
    kind: 'a head that folds one turn less',
    at: '',
    writes: ({ conversationId: id }) => [
      update(conversationPath(id), { coveredThrough: { seq: 27, contentIndex: 0 } }),
    ],
  },
  {
    name: 'covered-beyond',
    at: '',
    besides: ['covered-differs'],
    writes: ({ conversationId: id }) => [
      update(conversationPath(id), { coveredThrough: { seq: 40, contentIndex: 0 } }),
    ],
  },
  {
    name: 'index-broken',
    at: 'recall/00001',
    writes: ({ conversationId: id }) => [remove(recallPath(id, 1))],
  },
  {
    name: 'in-context-wrongly',
    at: turn(30),
    writes: ({ conversationId: id }) => [update(turnPath(id, 30), { replacedBy: { t_31: true } })],
  },
  {
    name: 'left-out-of-context',
    at: turn(30),
    writes: ({ conversationId: id }) => [update(turnPath(id, 30), { inContext: false })],
  },
  {
    name: 'request-overdue',
    at: '',
    writes: ({ conversationId: id }) => [
      update(conversationPath(id), { 'compactionRequests.auto': need(PAST) }),
    ],
  },
];
