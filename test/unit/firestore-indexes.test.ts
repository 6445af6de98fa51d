import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { emptySections, snapshotOfSections } from '#shared/compaction/snapshot-sections.ts';
import { encodeHistory, type History } from '#shared/conversation/documents/history.ts';
import { newConversation } from '#shared/conversation/documents/new-conversation.ts';
import { finishWrites, startWrites } from '#shared/conversation/writes/turn-writes.ts';
import type { DocumentFields, Value, Write } from '#shared/ports/ports.ts';

/** What firebase-tools accepts in the file, as far as this project uses it. */
const indexFileSchema = z.strictObject({
  indexes: z.array(
    z.strictObject({
      collectionGroup: z.string(),
      queryScope: z.enum(['COLLECTION', 'COLLECTION_GROUP']),
      fields: z
        .array(
          z.strictObject({ fieldPath: z.string(), order: z.enum(['ASCENDING', 'DESCENDING']) }),
        )
        .min(2),
    }),
  ),
  fieldOverrides: z.array(
    z.strictObject({
      collectionGroup: z.string(),
      fieldPath: z.string(),
      indexes: z.array(z.never()),
      /** Firestore deletes the document once the time in this field has passed. */
      ttl: z.literal(true).optional(),
    }),
  ),
});

const file = indexFileSchema.parse(
  JSON.parse(
    await readFile(
      new URL('../../infra/firestore/firestore.indexes.json', import.meta.url),
      'utf8',
    ),
  ),
);

/** An exemption of a map holds for all that is in it, one of `*` for every field. */
const isExempt = (collectionGroup: string, fieldPath: string) =>
  file.fieldOverrides.some(
    (override) =>
      override.collectionGroup === collectionGroup &&
      (override.fieldPath === '*' || `${fieldPath}.`.startsWith(`${override.fieldPath}.`)),
  );

const said = 'what-somebody-said';
const now = new Date('2026-11-01T12:00:00Z');
// More than one document holds, so that the overflow pieces are written too.
const long: Content = { role: 'user', parts: [{ text: said.repeat(50_000) }] };

const conversation: Conversation = {
  ...newConversation({
    epoch: 'e1',
    ownerUid: 'ann',
    model: 'gemini-3.8-flash',
    profile: 'assistant',
    systemInstruction: said,
    now,
  }),
  title: said,
  metadata: { note: said },
  pins: [{ id: 'p1', text: said, source: 'api' }],
  compactionRequests: { manual: { requestId: 'r1', since: now, focus: said } },
};

const history: History = {
  schemaVersion: 1,
  generation: 1,
  parent: 0,
  state: 'COMPACTED',
  strategy: 'gemini-cli',
  trigger: 'auto',
  requestId: 'r1',
  coveredThrough: { seq: 1, contentIndex: 0 },
  from: 1,
  turnsFolded: 1,
  beforeTokens: 9_000,
  afterTokens: 900,
  snapshotTokens: 800,
  boundary: 'b1',
  snapshotText: said,
  sourceHash: 'h1',
  model: 'gemini-3.8-flash',
  promptVersion: '1',
  modelCalls: 2,
  usage: { promptTokens: 1, outputTokens: 1 },
  requestedAt: now,
  createTime: now,
  durationMs: 1,
  by: 'w1',
  snapshot: snapshotOfSections({ ...emptySections, overall_goal: said }),
  masks: [{ seq: 1, contentIndex: 0, partIndex: 0, part: { text: said } }],
  report: { missing: [said] },
};

const writes: Write[] = [
  ...startWrites({
    conversationId: 'c1',
    messageId: 'm1',
    bodyHash: 'h1',
    seq: 1,
    user: long,
    userTokens: 1,
    lease: { producer: 'p1', leaseUntil: now },
    now,
    conversation: { create: conversation },
  }),
  ...finishWrites({
    conversationId: 'c1',
    seq: 1,
    attempt: 1,
    turnUpdateTime: '1.1',
    state: 'failed',
    contents: [{ ...long, role: 'model' }],
    answerTokens: 1,
    userTokens: 1,
    inContext: false,
    grounding: { sources: [{ url: said, title: said }], queries: [said], suggestions: said },
    error: { status: 'INTERNAL', reason: 'INTERNAL', message: said, retryable: false },
    now,
  }),
  { op: 'create', path: 'conversations/c1/histories/1', fields: encodeHistory(history) },
];

/** Dotted paths of the fields that hold `said`, arrays counting as one field. */
function pathsOfContent(value: Value | DocumentFields | undefined, path: string): string[] {
  if (value === undefined || !JSON.stringify(value).includes(said)) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([name, inner]) =>
    pathsOfContent(inner, path === '' ? name : `${path}.${name}`),
  );
}

const contentFields = writes
  .flatMap((write) => {
    if (write.op === 'delete') return [];
    const collectionGroup = write.path.split('/').at(-2) ?? '';
    return pathsOfContent(write.fields, '').map((fieldPath) => ({ collectionGroup, fieldPath }));
  })
  .filter(
    (field, index, all) =>
      index ===
      all.findIndex(
        ({ collectionGroup, fieldPath }) =>
          collectionGroup === field.collectionGroup && fieldPath === field.fieldPath,
      ),
  );

describe('firestore.indexes.json', () => {
  test.each(contentFields)(
    'firestore.indexes.json exempts $collectionGroup.$fieldPath from indexing',
    (field) => {
      expect(isExempt(field.collectionGroup, field.fieldPath)).toBe(true);
    },
  );

  test.each([
    ['blobs', 'text'],
    ['chunks', 'framesJson'],
    ['turns', 'feedback.comment'],
    ['ratings', 'comment'],
    ['devices', 'token'],
    ['memory', 'notes'],
    ['config', 'notes'],
  ])(
    'firestore.indexes.json exempts %s.%s, which no turn or compaction writes',
    (collectionGroup, fieldPath) => {
      expect(isExempt(collectionGroup, fieldPath)).toBe(true);
    },
  );

  test('firestore.indexes.json is compared with every document kind that holds content', () => {
    const groups = new Set(contentFields.map(({ collectionGroup }) => collectionGroup));

    expect([...groups].toSorted()).toEqual(['conversations', 'histories', 'parts', 'turns']);
  });

  test.each([
    'ownerUid',
    'state',
    'sweepShard',
    'queue.leaseUntil',
    'compactionRequests.manual.since',
    'compactionRequests.auto.since',
    'pendingErasure.since',
    'purgeTime',
    'expireTime',
  ])(
    'firestore.indexes.json keeps the index of conversations.%s, which queries use',
    (fieldPath) => {
      expect(isExempt('conversations', fieldPath)).toBe(false);
    },
  );

  test('firestore.indexes.json indexes an owner’s conversations, newest first', () => {
    expect(file.indexes).toContainEqual({
      collectionGroup: 'conversations',
      queryScope: 'COLLECTION',
      fields: [
        { fieldPath: 'ownerUid', order: 'ASCENDING' },
        { fieldPath: 'state', order: 'ASCENDING' },
        { fieldPath: 'updateTime', order: 'DESCENDING' },
      ],
    });
  });

  // A conversation's own expireTime is the sweep's: below it stand documents that no policy takes along.
  test.each([
    ['records of used App Check tokens', 'appCheckTokens'],
    ['frames of a stream', 'chunks'],
    ['the figures of a user’s day', 'usage'],
    ['the sums of a day', 'shards'],
    ['notes of files that nobody sent', 'uploads'],
  ])('S20: firestore.indexes.json lets expired %s be deleted', (_, collectionGroup) => {
    expect(file.fieldOverrides).toContainEqual({
      collectionGroup,
      fieldPath: 'expireTime',
      indexes: [],
      ttl: true,
    });
  });

  test('firestore.indexes.json names no field twice', () => {
    const names = file.fieldOverrides.map((field) => `${field.collectionGroup}.${field.fieldPath}`);

    expect(names).toHaveLength(new Set(names).size);
  });
});
