import { describe, expect, test } from 'vitest';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { applyFrame, beginLiveTurn, partsText } from '#web/state/live-turn.ts';

const begun = beginLiveTurn({ kind: 'send', messageId: 'm', text: 'Hello' });

const start: StreamChunk = {
  type: 'start',
  messageId: 'm_7',
  messageMetadata: { turnId: 't_7', conversationId: 'c', generation: 0, replayed: false },
};
const delta = (text: string, id = 'p0'): StreamChunk => ({ type: 'text-delta', id, delta: text });
const finish = (finishReason: 'stop' | 'error'): StreamChunk => ({
  type: 'finish',
  finishReason,
  messageMetadata: { generation: 0 },
});

const after = (...chunks: StreamChunk[]) =>
  chunks.reduce((turn, chunk, id) => applyFrame(turn, { id, chunk }), begun);

describe('an answer after its events', () => {
  test.each([
    ['nothing yet', [], 'sending', ''],
    ['the start', [start], 'waiting', ''],
    ['text', [start, delta('Hel'), delta('lo')], 'streaming', 'Hello'],
    ['two parts', [start, delta('One'), delta('Two', 'p1')], 'streaming', 'One\n\nTwo'],
    ['the end', [start, delta('Hello'), finish('stop')], 'done', 'Hello'],
    ['a stop', [start, delta('He'), { type: 'abort' }, finish('stop')], 'stopped', 'He'],
    ['an error', [start, { type: 'error', errorText: 'no' }, finish('error')], 'failed', ''],
  ] satisfies [string, StreamChunk[], string, string][])(
    'an answer after its events: %s',
    (...[, chunks, phase, text]) => {
      const turn = after(...chunks);

      expect([turn.phase, partsText(turn.parts)]).toEqual([phase, text]);
    },
  );

  test('an answer ignores a repeated event', () => {
    const turn = after(start, delta('Hello'));

    expect(applyFrame(turn, { id: 1, chunk: delta('Hello') })).toBe(turn);
  });

  test('an answer drops the text of an abandoned attempt', () => {
    const restarted: StreamChunk = {
      type: 'data-notice',
      id: 'restarted-2',
      data: { kind: 'restarted', dropParts: ['p0'] },
    };

    const turn = after(start, delta('Wrong'), restarted, delta('Right', 'p1'));

    expect(partsText(turn.parts)).toBe('Right');
  });
});
