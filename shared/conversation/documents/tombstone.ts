import type { Write } from '#shared/ports/ports.ts';
import type { Conversation } from './conversation.ts';
import { conversationPath } from './paths.ts';

/** How long an erased id stays taken, in milliseconds: longer than any client repeats a message. */
const TOMBSTONE_MS = 30 * 24 * 60 * 60_000;

/** Optional fields of a conversation document; a tombstone has none of them. */
const OPTIONAL_FIELDS = [
  'title',
  'autoTitle',
  'systemInstruction',
  'toolsJson',
  'sweepShard',
  'open',
  'queue',
  'appendsUntil',
  'indexedThrough',
  'pendingErasure',
  'deleteTime',
  'purgeTime',
  'forkedFrom',
  'thresholdShift',
  'settledRequest',
  'deletedPins',
  'memoryRevision',
  'client',
] as const satisfies readonly (keyof Conversation)[];

/** A conversation document that says nothing of anybody and keeps the id taken until `expireTime`. */
export const tombstone = (
  generation: number,
  now: Date,
): Omit<Conversation, (typeof OPTIONAL_FIELDS)[number]> => ({
  schemaVersion: 1,
  epoch: '',
  state: 'erased',
  ownerUid: '',
  model: '',
  profile: 'assistant',
  settings: {},
  metadata: {},
  createTime: now,
  updateTime: now,
  expireTime: new Date(now.getTime() + TOMBSTONE_MS),
  generation,
  coveredThrough: { seq: 0, contentIndex: 0 },
  lastSeq: 0,
  changedIn: generation,
  context: {
    tokens: 0,
    overheadTokens: 0,
    calibration: 1,
    source: 'estimated',
    generation: 0,
    seq: 0,
  },
  pins: [],
  compactionRequests: {},
});

/** The last step of erasing: what is left is no document but this, which the sweep drops in its time. */
export const tombstoneWrite = (
  conversationId: string,
  conversation: { generation: number; updateTime: string },
  now: Date,
): Write => ({
  op: 'update',
  path: conversationPath(conversationId),
  fields: { ...tombstone(conversation.generation, now) },
  remove: OPTIONAL_FIELDS,
  guard: { updateTime: conversation.updateTime },
});
