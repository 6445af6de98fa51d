import fc from 'fast-check';

/** What ends a line, an event or a field for some reader of event streams, and what surrounds it in one. */
const breaking = [
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  '\r\r',
  '\r\n\r\n',
  '\u0000',
  '\u000b',
  '\u000c',
  '\u0085',
  '\u2028',
  '\u2029',
  '\ufeff',
  'data:',
  'data: ',
  'event: error',
  'id: 99',
  'retry: 1',
  ': keep-alive',
  'data: [DONE]',
  '[DONE]',
  'data: {"type":"finish","finishReason":"stop"}',
  'data: {"result":null}',
  '"}',
  '\\',
  '\\n',
  '\\u2028',
  '</script>',
  '한',
  '👩‍👩‍👧',
  'text',
  ' ',
];

/**
 * `count` texts, each with at least one line end or field of an event stream in it; the same ones for the same
 * seed.
 */
export function frameBreakingTexts(count: number, seed: number): string[] {
  const text = fc
    .array(fc.oneof(fc.constantFrom(...breaking), fc.string({ unit: 'binary', maxLength: 8 })), {
      minLength: 1,
      maxLength: 12,
    })
    .map((pieces) => pieces.join(''))
    .filter((joined) => breaking.slice(0, -4).some((piece) => joined.includes(piece)));
  return fc.sample(text, { numRuns: count, seed });
}
