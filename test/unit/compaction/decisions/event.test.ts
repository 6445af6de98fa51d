import { describe, expect, test } from 'vitest';
import {
  compactionRequestSchema,
  requestEvent,
  eraseEvent,
  sweepEvent,
  workerEventSchema,
} from '#shared/compaction/decisions/event.ts';

const request = { schemaVersion: 1, conversationId: 'c1', requestId: 'r1' };

describe('a compaction request', () => {
  test('is read with fields of a later version, and written without', () => {
    const later = { ...request, priority: 'high' };

    expect(compactionRequestSchema.parse(later)).toEqual({ ...request, kind: 'compact' });
    expect(() => requestEvent(later)).toThrow('priority');
    expect(requestEvent({ conversationId: 'c1', requestId: 'r1' })).toEqual(request);
  });

  test.each([
    ['another version', { ...request, schemaVersion: 2 }],
    ['no conversation', { schemaVersion: 1, requestId: 'r1' }],
    ['a path for an id', { ...request, conversationId: 'a/b' }],
    ['an empty request id', { ...request, requestId: '' }],
    ['no object', 'c1'],
  ])('is refused: %s', (_, data) => {
    expect(compactionRequestSchema.safeParse(data).success).toBe(false);
  });
});

describe('an event of the worker', () => {
  test('without a kind is a compaction request', () => {
    expect(workerEventSchema.parse(request).kind).toBe('compact');
  });

  test('is read as it is published', () => {
    expect(workerEventSchema.parse(sweepEvent)).toEqual(sweepEvent);
    expect(workerEventSchema.parse(eraseEvent({ conversationId: 'c1' }))).toEqual({
      schemaVersion: 1,
      kind: 'erase',
      conversationId: 'c1',
    });
  });

  test('that erases a path is not published', () => {
    expect(() => eraseEvent({ conversationId: 'a/b' })).toThrow(/conversationId/);
  });
});
