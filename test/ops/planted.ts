import type { InvariantName } from '#infra/ops/verify/verify-conversation.ts';
import { tombstone } from '#shared/conversation/documents/conversation.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';

/** All documents of a conversation by their path below it; '' is the conversation document. */
export type Documents = Map<string, DocumentFields>;

/** What somebody who wrote into the database did, or a loss of documents. */
type Change = (documents: Documents) => void;

/** A corruption of a conversation of thirty turns that was compacted three times. */
interface Planted {
  /** What verification calls it. */
  name: InvariantName;
  /** The document that the finding is to name. */
  at: string;
  changes: Change[];
  /** Findings that follow from it. */
  besides?: readonly InvariantName[];
}

const fieldsAt = (documents: Documents, path: string): DocumentFields => {
  const fields = documents.get(path);
  if (!fields) throw new Error(`there is no ${path} to spoil`);
  return fields;
};

const set =
  (path: string, fields: DocumentFields): Change =>
  (documents) =>
    documents.set(path, { ...fieldsAt(documents, path), ...fields });
const unset =
  (path: string, field: string): Change =>
  (documents) => {
    const { [field]: _, ...others } = fieldsAt(documents, path);
    documents.set(path, others);
  };
const create =
  (path: string, fields: DocumentFields): Change =>
  (documents) =>
    documents.set(path, fields);
const copy =
  (from: string, to: string, fields: DocumentFields = {}): Change =>
  (documents) =>
    documents.set(to, { ...fieldsAt(documents, from), ...fields });
const lose =
  (path: string): Change =>
  (documents) => {
    fieldsAt(documents, path);
    documents.delete(path);
  };

const turn = (seq: number) => `turns/${String(seq).padStart(10, '0')}`;
const history = (generation: number) => `histories/${String(generation).padStart(8, '0')}`;
const message = (seq: number) => `messages/message-${seq}`;
const JOB = 'jobs/compaction';

const PAST = new Date('2026-01-01T00:00:00.000Z');
const FAR = new Date('2027-01-01T00:00:00.000Z');
const failure = { status: 'INTERNAL', reason: 'PLANTED', message: '', retryable: false };
const running = { state: 'running', inContext: false };
const emptied = {
  eraseTime: PAST,
  inContext: false,
  userJson: '{"role":"user","parts":[]}',
  answerJson: '[]',
};

const inTranscript: readonly Planted[] = [
  ...['', turn(4), history(2), JOB].map((path): Planted => ({
    name: 'newer-version',
    at: path,
    changes: [set(path, { schemaVersion: 2 })],
  })),
  {
    name: 'turn-missing',
    at: turn(4),
    changes: [lose(turn(4))],
    besides: ['guard-dangling'],
  },
  {
    name: 'turn-beyond',
    at: turn(31),
    changes: [copy(turn(30), turn(31), { seq: 31 })],
    besides: ['message-twice'],
  },
  {
    name: 'turn-misplaced',
    at: turn(4),
    changes: [copy(turn(5), turn(4))],
    besides: ['message-twice', 'guard-misdirected', 'guard-dangling'],
  },
  {
    name: 'turn-unreadable',
    at: turn(30),
    changes: [set(turn(30), { answerJson: '[{"role":' })],
    besides: ['guard-dangling'],
  },
  {
    name: 'piece-missing',
    at: `${turn(4)}/parts/a1-1`,
    changes: [set(turn(4), { answerPieces: 1 })],
  },
  { name: 'guard-missing', at: turn(4), changes: [lose(message(4))] },
  { name: 'guard-misdirected', at: message(4), changes: [set(message(4), { seq: 5 })] },
  {
    name: 'guard-dangling',
    at: message(99),
    changes: [create(message(99), { seq: 99, bodyHash: 'hash' })],
  },
  {
    name: 'guard-unreadable',
    at: message(4),
    changes: [set(message(4), { seq: 'four' })],
    besides: ['guard-missing'],
  },
  {
    name: 'open-turn-ended',
    at: '',
    changes: [set('', { open: { seq: 30, leaseUntil: FAR } })],
  },
  { name: 'running-not-open', at: turn(30), changes: [set(turn(30), running)] },
  {
    name: 'queued-not-in-queue',
    at: turn(30),
    changes: [set(turn(30), { state: 'queued', inContext: false }), unset(turn(30), 'finishTime')],
  },
  {
    name: 'turn-abandoned',
    at: '',
    changes: [
      set('', { open: { seq: 30, leaseUntil: PAST } }),
      set(turn(30), { ...running, leaseUntil: PAST }),
      unset(turn(30), 'finishTime'),
    ],
  },
  {
    name: 'message-twice',
    at: turn(30),
    changes: [set(turn(30), { messageId: 'message-4' })],
    besides: ['guard-dangling', 'guard-misdirected'],
  },
  { name: 'end-early', at: turn(30), changes: [set(turn(30), { error: failure })] },
  { name: 'end-missing', at: turn(4), changes: [unset(turn(4), 'finishTime')] },
];

const inContext: readonly Planted[] = [
  {
    name: 'head-unreadable',
    at: '',
    changes: [
      (documents) => {
        const { context } = fieldsAt(documents, '');
        set('', { context: { ...Object(context), tokens: -1 } })(documents);
      },
    ],
  },
  {
    name: 'covered-differs',
    at: '',
    changes: [set('', { coveredThrough: { seq: 27, contentIndex: 0 } })],
  },
  {
    name: 'covered-beyond',
    at: '',
    changes: [set('', { coveredThrough: { seq: 40, contentIndex: 0 } })],
    besides: ['covered-differs'],
  },
  { name: 'index-broken', at: 'recall/00001', changes: [lose('recall/00001')] },
  {
    name: 'in-context-wrongly',
    at: turn(30),
    changes: [set(turn(30), { replacedBy: { t_31: true } })],
  },
  { name: 'left-out-of-context', at: turn(30), changes: [set(turn(30), { inContext: false })] },
  {
    name: 'request-overdue',
    at: '',
    changes: [
      set('', {
        compactionRequests: { auto: { requestId: 'planted', since: PAST, trigger: 'auto' } },
      }),
    ],
  },
];

const inCompactions: readonly Planted[] = [
  { name: 'history-missing', at: history(2), changes: [lose(history(2))] },
  {
    name: 'history-beyond',
    at: history(4),
    changes: [copy(history(3), history(4), { generation: 4, parent: 3 })],
  },
  { name: 'history-parent', at: history(3), changes: [set(history(3), { parent: 1 })] },
  { name: 'history-unreadable', at: history(2), changes: [set(history(2), { snapshotJson: 7 })] },
  { name: 'history-misplaced', at: history(4), changes: [copy(history(3), history(4))] },
  { name: 'history-empty', at: history(1), changes: [set(history(1), { snapshotText: '' })] },
  { name: 'job-unreadable', at: JOB, changes: [set(JOB, { fence: 'two' })] },
];

const inErasure: readonly Planted[] = [
  {
    name: 'index-tells-erased',
    at: 'recall/00001',
    changes: [set(turn(4), emptied)],
    besides: ['erased-turn-tells', 'history-cites-erased'],
  },
  {
    name: 'erased-turn-tells',
    at: `${turn(4)}/parts/u-1`,
    changes: [
      set(turn(4), emptied),
      set(message(4), { bodyHash: '' }),
      create(`${turn(4)}/parts/u-1`, { text: 'x' }),
    ],
    besides: ['history-cites-erased', 'index-tells-erased'],
  },
  {
    // By the hash of its message.
    name: 'erased-turn-tells',
    at: message(4),
    changes: [set(turn(4), emptied)],
    besides: ['history-cites-erased', 'index-tells-erased'],
  },
  {
    name: 'history-cites-erased',
    at: history(1),
    changes: [set(turn(1), emptied)],
    besides: ['erased-turn-tells', 'index-tells-erased'],
  },
  {
    name: 'pin-of-erased',
    at: '',
    changes: [
      set(turn(4), emptied),
      set('', { pins: [{ id: 'kept', text: 'x', source: 'api', seq: 4 }] }),
    ],
    besides: ['erased-turn-tells', 'history-cites-erased', 'index-tells-erased'],
  },
  {
    name: 'erasure-stuck',
    at: '',
    changes: [set('', { pendingErasure: { since: PAST, seqs: [4] } })],
  },
  { name: 'below-erased-head', at: turn(1), changes: [create('', { ...tombstone(4, PAST) })] },
  {
    name: 'tombstone-tells',
    at: '',
    changes: [set('', { state: 'erased' })],
    besides: ['below-erased-head'],
  },
  { name: 'below-missing-head', at: turn(1), changes: [lose('')] },
];

/** Every corruption that verification is to find by its name at its place. */
export const planted = [...inTranscript, ...inContext, ...inCompactions, ...inErasure];
