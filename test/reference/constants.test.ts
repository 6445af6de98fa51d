import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { constantsDocument } from '#infra/reference/constants-document.ts';
import { scannedConstants } from '#infra/reference/scanned-constants.ts';

test('docs/reference/constants.md says what the code uses (npm run constants writes it)', () => {
  const written = readFileSync(
    new URL('../../docs/reference/constants.md', import.meta.url),
    'utf8',
  );

  expect(written).toBe(constantsDocument());
});

test('every number that a module sets for itself says why', () => {
  const silent = scannedConstants().filter(({ why }) => why === '');

  expect(silent.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});
