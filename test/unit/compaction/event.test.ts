import {
  compactionRequestSchema,
  requestEvent,
  eraseEvent,
  sweepEvent,
  workerEventSchema,
} from '#shared/compaction/event.ts';
import { describe, expect, test } from 'vitest';

const request = { schemaVersion: 1, conversationId: 'c1', requestId: 'r1' };

describe('a compaction request', () => {
  test('a compaction request of a later version is read, and its unknown fields are not written', () => {
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
  ])('an invalid compaction request is refused: %s', (_, data) => {
    expect(compactionRequestSchema.safeParse(data).success).toBe(false);
  });
});

describe('an event of the worker', () => {
  test('a worker event without a kind is a compaction request', () => {
    expect(workerEventSchema.parse(request).kind).toBe('compact');
  });

  test('a worker event is read as published', () => {
    expect(workerEventSchema.parse(sweepEvent)).toEqual(sweepEvent);
    expect(workerEventSchema.parse(eraseEvent({ conversationId: 'c1' }))).toEqual({
      schemaVersion: 1,
      kind: 'erase',
      conversationId: 'c1',
    });
  });

  test('a worker event that erases a path is not published', () => {
    expect(() => eraseEvent({ conversationId: 'a/b' })).toThrow(/conversationId/);
  });
});
