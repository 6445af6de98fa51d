import {
  compactionJobPath,
  conversationPath,
  recallPath,
  turnPath,
} from '#shared/conversation/documents/paths.ts';
import { fieldsAt, PAST, remove, turn, update, type Planted } from './planting.ts';

const need = (since: Date) => ({ requestId: 'planted', since, trigger: 'auto' });

const meter = {
  tokens: 50_000,
  overheadTokens: 0,
  calibration: 1,
  source: 'reported',
  generation: 3,
  seq: 30,
};

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
    name: 'meter-ahead',
    at: '',
    writes: ({ conversationId: id }) => [update(conversationPath(id), { 'context.seq': 99 })],
  },
  {
    name: 'pin-not-in-context',
    at: '',
    kind: 'the same pin twice',
    writes: (input) => {
      const path = conversationPath(input.conversationId);
      const { pins } = fieldsAt(input, path);
      return [update(path, { pins: Array.isArray(pins) ? [...pins, ...pins] : [] })];
    },
  },
  {
    name: 'crossing-forgotten',
    at: '',
    writes: ({ conversationId: id }) => [
      update(conversationPath(id), { context: meter }),
      update(compactionJobPath(id), { records: [] }),
    ],
  },
  {
    name: 'need-overdue',
    at: '',
    writes: ({ conversationId: id }) => [
      update(conversationPath(id), { 'compactionNeeded.auto': need(PAST) }),
    ],
  },
];
