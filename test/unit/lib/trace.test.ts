import { describe, expect, test } from 'vitest';
import { readTrace } from '#functions/lib/trace.ts';

const id = '4bf92f3577b34da6a3ce929d0e0e4736';

describe('the trace of a request', () => {
  test.each([
    ['as W3C writes it', { traceparent: `00-${id}-00f067aa0ba902b7-01` }, '00f067aa0ba902b7-01'],
    [
      'of a later version',
      { traceparent: `cc-${id}-00f067aa0ba902b7-01-more` },
      '00f067aa0ba902b7-01',
    ],
    ['as Google writes it', { cloudTraceContext: `${id}/255;o=1` }, '00000000000000ff-01'],
    ['without flags', { cloudTraceContext: `${id}/18446744073709551615` }, 'ffffffffffffffff-00'],
    ['without a span', { cloudTraceContext: id }, `${id.slice(0, 15)}1-00`],
    [
      'of the older header where the newer is broken',
      { traceparent: 'broken', cloudTraceContext: `${id}/1;o=0` },
      '0000000000000001-00',
    ],
  ])('the trace header %s is read', (_, headers, rest) => {
    expect(readTrace(headers)).toEqual({ traceId: id, traceparent: `00-${id}-${rest}` });
  });

  test.each([
    {},
    { traceparent: '' },
    { traceparent: `00-${'0'.repeat(32)}-00f067aa0ba902b7-01` },
    { traceparent: `00-${id}-${'0'.repeat(16)}-01` },
    { traceparent: `ff-${id}-00f067aa0ba902b7-01` },
    { traceparent: `00-${id.toUpperCase()}-00f067aa0ba902b7-01` },
    { traceparent: `00-${id}-00f067aa0ba902b7-01 and more` },
    { cloudTraceContext: 'a word' },
    { cloudTraceContext: '0'.repeat(32) },
  ])('the trace header %j is ignored', (headers) => {
    expect(readTrace(headers)).toBeUndefined();
  });
});
