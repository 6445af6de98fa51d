import { describe, expect, test } from 'vitest';
import { StreamAssembly } from '../phones/stream-assembly.ts';

const event = (id: number | undefined, chunk: object) => ({ id, data: JSON.stringify(chunk) });
const start = event(0, { type: 'start', messageId: 'm_1' });
const begin = event(1, { type: 'text-start', id: 'p0' });
const delta = (id: number, text: string) =>
  event(id, { type: 'text-delta', id: 'p0', delta: text });
const finish = (id: number) => event(id, { type: 'finish', finishReason: 'stop' });

/** An assembly that has read `Hello` up to frame 2. */
function halfRead() {
  const assembly = new StreamAssembly();
  assembly.connect(undefined);
  for (const each of [start, begin, delta(2, 'Hello')]) assembly.take(each);
  return assembly;
}

describe('the assembly of a stream', () => {
  test('puts the text together over a cut', () => {
    const assembly = halfRead();

    assembly.connect(2);
    for (const each of [delta(3, ' you'), finish(4)]) assembly.take(each);

    expect(assembly).toMatchObject({ text: 'Hello you', isFinished: true, problems: [] });
  });

  test('drops the parts that a restart names', () => {
    const assembly = halfRead();

    assembly.connect(2);
    for (const each of [
      event(1_000_000, { type: 'start', messageId: 'm_1' }),
      event(1_000_001, {
        type: 'data-notice',
        data: { kind: 'restarted', dropParts: ['p0'] },
      }),
      event(1_000_002, { type: 'text-start', id: 'a2-p0' }),
      event(1_000_009, { type: 'text-delta', id: 'a2-p0', delta: 'Anew' }),
    ])
      assembly.take(each);

    expect(assembly).toMatchObject({ text: 'Anew', restarts: 1, problems: [] });
  });

  test('begins anew without a cursor', () => {
    const assembly = halfRead();

    assembly.connect(undefined);
    for (const each of [start, begin, delta(7, 'Hello again'), finish(8)]) assembly.take(each);

    expect(assembly).toMatchObject({ text: 'Hello again', problems: [] });
  });

  test.each([
    ['comes twice', delta(2, 'Hello'), 'frame 2 (text-delta) came after frame 2'],
    ['is left out after a cursor', delta(4, '!'), 'frame 4 (text-delta) came where 3 was due'],
    [
      'begins an attempt in its midst',
      event(1_000_005, { type: 'text-end', id: 'p0' }),
      'attempt 2 began with frame 1000005 (text-end)',
    ],
    [
      'belongs to a part that has not begun',
      event(3, { type: 'text-delta', id: 'p9', delta: '?' }),
      'part p9 goes on and has not begun',
    ],
  ])('notes a frame that %s', (_case, frame, problem) => {
    const assembly = halfRead();

    assembly.connect(2);
    assembly.take(frame);

    expect(assembly.problems).toEqual([problem]);
  });

  test('notes a frame after the finish', () => {
    const assembly = halfRead();

    for (const each of [finish(3), delta(4, '!')]) assembly.take(each);

    expect(assembly.problems).toEqual(['frame 4 (text-delta) came after the finish']);
  });

  test('takes the end of a stream that broke, which has no ids', () => {
    const assembly = halfRead();

    for (const each of [
      event(undefined, { type: 'error', errorText: 'broken' }),
      event(undefined, { type: 'finish', finishReason: 'error' }),
    ])
      assembly.take(each);

    expect(assembly).toMatchObject({ isFinished: true, hasFailed: true, lastId: 2, problems: [] });
  });
});
