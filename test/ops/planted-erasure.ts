import {
  conversationPath,
  messageGuardPath,
  turnPath,
  turnPiecePath,
} from '#shared/conversation/documents/paths.ts';
import { tombstoneWrite } from '#shared/conversation/documents/tombstone.ts';
import type { Write } from '#shared/ports/ports.ts';
import { anything, create, history, PAST, remove, turn, update, type Planted } from './planting.ts';

const emptied = {
  eraseTime: PAST,
  inContext: false,
  userJson: '{"role":"user","parts":[]}',
  answerJson: '[]',
};

/** What is left of what was erased. */
export const inErasure: readonly Planted[] = [
  {
    name: 'index-tells-erased',
    at: 'recall/00001',
    besides: ['erased-turn-tells', 'history-cites-erased'],
    writes: ({ conversationId: id }) => [update(turnPath(id, 4), emptied)],
  },
  {
    name: 'erased-turn-tells',
    at: `${turn(4)}/parts/u-1`,
    besides: ['history-cites-erased', 'index-tells-erased'],
    writes: ({ conversationId: id }) => [
      update(turnPath(id, 4), emptied),
      update(messageGuardPath(id, 'message-4'), { bodyHash: '' }),
      create(turnPiecePath({ conversationId: id, seq: 4 }, { of: 'u', index: 1 }), { text: 'x' }),
    ],
  },
  {
    name: 'erased-turn-tells',
    kind: 'the hash of its message',
    at: 'messages/message-4',
    besides: ['history-cites-erased', 'index-tells-erased'],
    writes: ({ conversationId: id }) => [update(turnPath(id, 4), emptied)],
  },
  {
    name: 'history-cites-erased',
    at: history(1),
    besides: ['erased-turn-tells', 'index-tells-erased'],
    writes: ({ conversationId: id }) => [update(turnPath(id, 1), emptied)],
  },
  {
    name: 'pin-of-erased',
    at: '',
    besides: ['erased-turn-tells', 'history-cites-erased', 'index-tells-erased'],
    writes: ({ conversationId: id }) => [
      update(turnPath(id, 4), emptied),
      update(conversationPath(id), { pins: [{ id: 'kept', text: 'x', source: 'api', seq: 4 }] }),
    ],
  },
  {
    name: 'erasure-stuck',
    at: '',
    writes: ({ conversationId: id }) => [
      update(conversationPath(id), { pendingErasure: { since: PAST, seqs: [4] } }),
    ],
  },
  {
    name: 'below-erased-head',
    at: turn(1),
    writes: ({ conversationId: id }) => [
      { ...tombstoneWrite(id, { generation: 4, updateTime: '' }, PAST), guard: anything } as Write,
    ],
  },
  {
    name: 'tombstone-tells',
    at: '',
    besides: ['below-erased-head'],
    writes: ({ conversationId: id }) => [update(conversationPath(id), { state: 'erased' })],
  },
  {
    name: 'below-missing-head',
    at: turn(1),
    writes: ({ conversationId: id }) => [remove(conversationPath(id))],
  },
];
