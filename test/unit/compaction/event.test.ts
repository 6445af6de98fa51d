import { describe, expect, test } from 'vitest';
import {
  compactionRequestSchema,
  compactionRequestWriteSchema,
} from '../../../shared/compaction/event.ts';

const request = { schemaVersion: 1, conversationId: 'c1', requestId: 'r1' };

describe('a compaction request', () => {
  test('is read with fields of a later version, and written without', () => {
    const later = { ...request, priority: 'high' };

    expect(compactionRequestSchema.parse(later)).toEqual(request);
    expect(compactionRequestWriteSchema.safeParse(later).success).toBe(false);
    expect(compactionRequestWriteSchema.parse(request)).toEqual(request);
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
