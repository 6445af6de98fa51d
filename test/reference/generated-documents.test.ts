import { expect, test } from 'vitest';
import { apiDocument, openApiText, servedDocument } from '#infra/reference/api-document.ts';
import { configurationDocument } from '#infra/reference/configuration-document.ts';
import { errorsDocument } from '#infra/reference/errors-document.ts';
import { constantsDocument } from '#infra/reference/constants-document.ts';
import { deploymentSettings } from '#infra/reference/deployment-settings.ts';
import { scannedConstants } from '#infra/reference/scanned-constants.ts';
import { readText } from './named-tests.ts';

test.each([
  ['docs/reference/configuration.md', 'configuration', configurationDocument],
  ['terraform/settings.json', 'configuration', deploymentSettings],
  ['docs/reference/constants.md', 'constants', constantsDocument],
  ['docs/reference/openapi.json', 'openapi', openApiText],
  ['docs/reference/errors.md', 'openapi', errorsDocument],
  ['docs/reference/api.md', 'openapi', () => apiDocument(servedDocument())],
])('%s is up to date with the code (npm run %s writes it)', async (path, _command, generate) => {
  expect(await readText(path)).toBe(generate());
});

test('every constant that a module defines has a comment that says why', () => {
  const silent = scannedConstants().filter(({ why }) => why === '');

  expect(silent.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});
