import { expect, test } from 'vitest';
import { addGrounding, groundingWithin } from '#shared/grounding/locate-claims.ts';
import type { ReportedClaim } from '#shared/models/grounding.ts';

const url = 'https://example.com/';
const report = (...claims: (string | ReportedClaim)[]) => ({
  sources: [
    { url, claims: claims.map((claim) => (typeof claim === 'string' ? { text: claim } : claim)) },
  ],
  queries: ['q'],
});

const trams = '**Bus** 12 leaves at 9. **Tram** 12 leaves at 9.';
const leaves = ' 12 leaves at 9.';
test.each([
  [
    'where its bytes say, of two places',
    trams,
    { text: leaves, startByte: 32 },
    { start: 32, end: 48 },
  ],
  [
    'at the first one that its bytes say',
    trams,
    { text: leaves, startByte: 7 },
    { start: 7, end: 23 },
  ],
  ['nowhere where its bytes say another place', trams, { text: leaves, startByte: 20 }, undefined],
  ['nowhere where nobody says which', trams, { text: leaves }, undefined],
  [
    'behind characters of several bytes',
    `Grün 🚃: ${trams}`,
    { text: leaves, startByte: 44 },
    { start: 41, end: 57 },
  ],
  [
    'where it stands once, whatever its bytes say',
    trams,
    { text: 'Tram', startByte: 3 },
    { start: 26, end: 30 },
  ],
])('a passage is cited %s', (...[, text, claim, span]) => {
  const found = addGrounding(undefined, report(claim), { text, offset: 100 });

  expect(found?.sources[0]?.spans).toEqual(
    span && [{ start: 100 + span.start, end: 100 + span.end }],
  );
});

test('an attempt that goes on with whole rounds keeps no source of what was said after them', () => {
  const grounding = {
    sources: [
      { url, spans: [{ start: 0, end: 5 }] },
      { url: `${url}later`, spans: [{ start: 6, end: 20 }] },
      { url: `${url}page` },
    ],
    queries: [],
  };

  expect(groundingWithin(grounding, 5)?.sources.map((source) => source.url)).toEqual([
    url,
    `${url}page`,
  ]);
});
