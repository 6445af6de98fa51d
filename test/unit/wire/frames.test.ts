import { describe, expect, test } from 'vitest';
import { collapseFrames, type StreamFrame } from '#shared/wire/resources/streams.ts';
import { cursorPlace, firstFrameId, highestFrameId } from '#shared/wire/frame-ids.ts';

const delta = (id: number, text: string, part = 'p0'): StreamFrame => ({
  id,
  chunk: { type: 'text-delta', id: part, delta: text },
});

describe('collapsed frames', () => {
  test('collapsed frames join neighbouring deltas of a part under the last id', () => {
    expect(collapseFrames([delta(2, 'a'), delta(3, 'b'), delta(4, 'c')])).toEqual([
      delta(4, 'abc'),
    ]);
  });

  test('collapsed frames keep deltas apart that another part or frame separates', () => {
    const frames = [
      delta(1, 'a'),
      delta(2, 'b', 'q'),
      delta(3, 'c'),
      { id: 4, chunk: { type: 'text-end', id: 'p0' } } as const,
    ];

    expect(collapseFrames(frames)).toEqual(frames);
  });
});

describe('frame ids', () => {
  test('frame ids of successive attempts do not overlap', () => {
    expect([1, 2, 3].map(firstFrameId)).toEqual([0, 1_000_000, 2_000_000]);
    expect(highestFrameId(1) + 1).toBe(firstFrameId(2));
  });

  test.each([
    [undefined, 1, 'before'],
    [0, 1, 'within'],
    [999_999, 1, 'within'],
    [1_000_000, 1, 'beyond'],
    [999_999, 2, 'before'],
    [1_000_000, 2, 'within'],
  ] as const)('the frame cursor %s of attempt %i stands %s it', (cursor, attempt, place) => {
    expect(cursorPlace(cursor, attempt)).toBe(place);
  });
});
