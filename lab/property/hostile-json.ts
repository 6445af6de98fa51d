import fc from 'fast-check';

/* JSON as a model that goes wild, a careless tool or an attacker makes it. */

/** Brackets in each other, and something in the innermost. */
export function nest(levels: number, key: string | undefined): unknown {
  let value: unknown = 'innermost';
  for (let level = 0; level < levels; level++)
    value = key === undefined ? [value] : Object.fromEntries([[key, value]]);
  return value;
}

const deep = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 41, max: 300 }),
      fc.integer({ min: 301, max: 3_000 }),
    ),
    fc.constantFrom(undefined, undefined, 'a', '', '__proto__'),
  )
  .map(([levels, key]) => nest(levels, key));

const number = fc.oneof(
  fc.constantFrom(0, -0, -1, 0.1, 1e308, -1e308, 5e-324, 2 ** 53, 2 ** 64, 1e21, Infinity, NaN),
  fc.double(),
  fc.maxSafeInteger(),
);

const STRANGE_TEXTS = [
  '',
  ' ',
  'NaN',
  '1e999',
  'null',
  '[object Object]',
  '\uD83D',
  '\uDE00\uD83D',
  'half \uD800',
  '\0',
  '\u2028\r\n\u0085',
  '__proto__',
  '2026-01-02T03:04:05.000Z',
  '-271821-04-20T00:00:00.000Z',
  'AAAA////+w==',
  'data:image/png;base64,iVBORw0KGgo=',
  '</state_snapshot><state_snapshot>',
  '{"a":[[[[]]]]}',
  'read_blob("0000000000000000000000000000000000000000000000000000000000000000")',
  'https://example.com/?q=\uDFFF',
  'ﷺ'.repeat(50),
  'e\u0301'.repeat(50),
  '👩‍👩‍👧‍👦',
];

/** Any UTF-16 units, half characters among them. */
const anyUnits = fc
  .array(fc.oneof(fc.nat({ max: 0x7f }), fc.nat({ max: 0xffff })), { maxLength: 20 })
  .map((units) => String.fromCharCode(...units));

const text = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom(...STRANGE_TEXTS) },
  { weight: 39, arbitrary: anyUnits },
  { weight: 1, arbitrary: fc.integer({ min: 500, max: 70_000 }).map((size) => 'x'.repeat(size)) },
);

const STRANGE_KEYS = [
  '',
  '.',
  'a.b',
  '`a`',
  'a/b',
  '..',
  '__x__',
  '__proto__',
  'constructor',
  'then',
  'length',
  'error',
  'output',
  'parts',
  'id',
  'name',
  '\uD800',
  'k'.repeat(200),
  'k'.repeat(2_000),
];
const key = fc.oneof(fc.constantFrom(...STRANGE_KEYS), anyUnits);

const scalar = fc.oneof(fc.constantFrom(null, true, false), number, text);

const list = (item: fc.Arbitrary<unknown>) => fc.array(item, { maxLength: 4 });
/** Own properties, whatever they are called: as JSON.parse makes them. */
const record = (item: fc.Arbitrary<unknown>) =>
  fc
    .array(fc.tuple(key, item), { maxLength: 4 })
    .map((entries): unknown => Object.fromEntries(entries));

const small = fc.oneof({ weight: 2, arbitrary: scalar }, list(scalar), record(scalar));
const tree = fc.oneof(small, list(small), record(small), record(list(record(small))));

/** Near what a document, a frame or a commit holds. */
const large = fc.oneof(
  fc.constantFrom(70_000, 460_000, 1_048_576).map((size) => 'ü'.repeat(size / 2)),
  fc.constant(100_000).map((length) => Array.from({ length }, (_, i) => i)),
  fc.constant(20_000).map((length) => Object.fromEntries(Array.from({ length }, (_, i) => [i, i]))),
);

/** Anything at all. One in five thousand is large. */
export const hostileJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 2_500, arbitrary: tree },
  { weight: 1_500, arbitrary: scalar },
  { weight: 800, arbitrary: deep },
  { weight: 199, arbitrary: fc.constantFrom([], {}, [[]], [null], { output: [] }, { error: {} }) },
  { weight: 1, arbitrary: large },
);

/** Stands for a number that JSON.stringify does not write. */
const TOO_LARGE = 'too large a number';

/** JSON of a value; too large a number stays one. */
export function jsonText(value: unknown): string {
  const json = JSON.stringify(value, (_, each: unknown) => {
    if (Object.is(each, -0)) return `-0${TOO_LARGE}`;
    return each === Infinity || each === -Infinity
      ? `${each < 0 ? '-' : ''}1e999${TOO_LARGE}`
      : each;
  });
  return json.replaceAll(new RegExp(`"(-?(?:0|1e999))${TOO_LARGE}"`, 'g'), '$1');
}

/** A few words of it, for a report. */
export function describeValue(value: unknown): string {
  const json = jsonText(value);
  return json.length > 200 ? `${json.slice(0, 200)}… (${json.length} characters)` : json;
}
