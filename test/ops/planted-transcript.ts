import {
  compactionJobPath,
  conversationPath,
  historyPath,
  messageGuardPath,
  turnPath,
} from '#shared/conversation/documents/paths.ts';
import {
  create,
  FAR,
  fieldsAt,
  history,
  PAST,
  remove,
  turn,
  update,
  type Planted,
} from './planting.ts';

const failure = { status: 'INTERNAL', reason: 'PLANTED', message: '', retryable: false };

/** Documents that a later release wrote, of each kind that carries a version. */
const ofLaterRelease: readonly Planted[] = [
  { at: '', path: conversationPath },
  { at: turn(4), path: (id: string) => turnPath(id, 4) },
  { at: history(2), path: (id: string) => historyPath(id, 2) },
  { at: 'jobs/compaction', path: compactionJobPath },
].map(({ at, path }) => ({
  name: 'newer-version',
  at,
  writes: ({ conversationId }) => [update(path(conversationId), { schemaVersion: 2 })],
}));

/** Turns, guards and answers. */
export const inTranscript: readonly Planted[] = [
  ...ofLaterRelease,
  {
    name: 'turn-missing',
    at: turn(4),
    besides: ['guard-dangling'],
    writes: ({ conversationId: id }) => [remove(turnPath(id, 4))],
  },
  {
    name: 'turn-beyond',
    at: turn(31),
    besides: ['message-twice'],
    writes: (input) => [
      create(turnPath(input.conversationId, 31), {
        ...fieldsAt(input, turnPath(input.conversationId, 30)),
        seq: 31,
      }),
    ],
  },
  {
    name: 'turn-misplaced',
    at: turn(4),
    besides: ['message-twice', 'guard-misdirected', 'guard-dangling'],
    writes: (input) => [
      remove(turnPath(input.conversationId, 4)),
      create(turnPath(input.conversationId, 4), fieldsAt(input, turnPath(input.conversationId, 5))),
    ],
  },
  {
    name: 'turn-unreadable',
    at: turn(30),
    besides: ['guard-dangling'],
    writes: ({ conversationId: id }) => [update(turnPath(id, 30), { answerJson: '[{"role":' })],
  },
  {
    name: 'piece-missing',
    at: `${turn(4)}/parts/a1-1`,
    writes: ({ conversationId: id }) => [update(turnPath(id, 4), { answerPieces: 1 })],
  },
  {
    name: 'guard-missing',
    at: turn(4),
    writes: ({ conversationId: id }) => [remove(messageGuardPath(id, 'message-4'))],
  },
  {
    name: 'guard-misdirected',
    at: 'messages/message-4',
    writes: ({ conversationId: id }) => [update(messageGuardPath(id, 'message-4'), { seq: 5 })],
  },
  {
    name: 'guard-dangling',
    at: 'messages/message-99',
    writes: ({ conversationId: id }) => [
      create(messageGuardPath(id, 'message-99'), { seq: 99, bodyHash: 'hash' }),
    ],
  },
  {
    name: 'open-turn-ended',
    at: '',
    writes: ({ conversationId: id }) => [
      update(conversationPath(id), { open: { seq: 30, leaseUntil: FAR } }),
    ],
  },
  {
    name: 'running-not-open',
    at: turn(30),
    writes: ({ conversationId: id }) => [
      update(turnPath(id, 30), { state: 'running', inContext: false }),
    ],
  },
  {
    name: 'queued-not-in-queue',
    at: turn(30),
    writes: ({ conversationId: id }) => [
      update(turnPath(id, 30), { state: 'queued', inContext: false }, ['finishTime']),
    ],
  },
  {
    name: 'guard-unreadable',
    at: 'messages/message-4',
    besides: ['guard-missing'],
    writes: ({ conversationId: id }) => [
      update(messageGuardPath(id, 'message-4'), { seq: 'four' }),
    ],
  },
  {
    name: 'end-early',
    at: turn(30),
    writes: ({ conversationId: id }) => [update(turnPath(id, 30), { error: failure })],
  },
  {
    name: 'turn-abandoned',
    at: '',
    writes: ({ conversationId: id }) => [
      update(conversationPath(id), { open: { seq: 30, leaseUntil: PAST } }),
      update(turnPath(id, 30), { state: 'running', inContext: false, leaseUntil: PAST }, [
        'finishTime',
      ]),
    ],
  },
  {
    name: 'message-twice',
    at: turn(30),
    besides: ['guard-dangling', 'guard-misdirected'],
    writes: ({ conversationId: id }) => [update(turnPath(id, 30), { messageId: 'message-4' })],
  },
  {
    name: 'end-missing',
    at: turn(4),
    writes: ({ conversationId: id }) => [update(turnPath(id, 4), {}, ['finishTime'])],
  },
];
