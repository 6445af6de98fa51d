import { describe, expect, test } from 'vitest';
import { singleLineJson } from '#shared/json-text.ts';

/** Everything that some reader ends a line at. */
const lineEnds = ['\n', '\r', '\u000b', '\u000c', '\u0085', '\u2028', '\u2029'];

describe('JSON on a single line', () => {
  test.each(lineEnds)('single-line JSON holds no %j, in texts and in keys', (end) => {
    const value = { [`a${end}b`]: [`${end}${end}`] };

    const json = singleLineJson(value);

    expect(json).not.toContain(end);
    expect(JSON.parse(json)).toEqual(value);
  });

  test('single-line JSON leaves everything else unchanged', () => {
    const value = { text: 'Grüße, 안녕 👩‍🚀 "\\ \u007f \u200b' };

    expect(singleLineJson(value)).toBe(JSON.stringify(value));
  });
});
