import { expect, test } from 'vitest';
import { addReport } from '#shared/grounding/bounded-report.ts';
import type { ReportedClaim } from '#shared/models/grounding.ts';

const report = (...sources: { url: string; title?: string; claims?: ReportedClaim[] }[]) => ({
  sources: sources.map(({ claims = [], ...source }) => ({ ...source, claims })),
  queries: [],
});

test.each([
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'ftp://example.com/file',
  'gs://bucket/object',
  'https://user:secret@example.com/',
  '//example.com',
  'no address',
  `https://example.com/${'a'.repeat(2_048)}`,
  'https://example.com/\ud800',
])('a source is left out whose address no page should link to: %s', (url) => {
  expect(addReport(undefined, report({ url })).sources).toEqual([]);
});

test('a source that two chunks of a stream report stands once, with the passages of both', () => {
  const url = 'https://example.com/';
  const one = { text: 'One.', startByte: 0 };
  const again = { text: 'One.', startByte: 9 };
  const first = addReport(undefined, report({ url, title: 'Example', claims: [one] }));

  const { sources } = addReport(first, report({ url, claims: [one, again] }));

  expect(sources).toEqual([{ url, title: 'Example', claims: [one, again] }]);
});
