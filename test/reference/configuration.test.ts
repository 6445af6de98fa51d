import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { configurationDocument } from '#infra/reference/configuration-document.ts';
import { deploymentSettings } from '#infra/reference/deployment-settings.ts';

test('docs/reference/configuration.md says what the code reads (npm run configuration writes it)', () => {
  const written = readFileSync(
    new URL('../../docs/reference/configuration.md', import.meta.url),
    'utf8',
  );

  expect(written).toBe(configurationDocument());
});

test('terraform/settings.json lists the variables that a deployment may set (npm run configuration writes it)', () => {
  const written = readFileSync(new URL('../../terraform/settings.json', import.meta.url), 'utf8');

  expect(written).toBe(deploymentSettings());
});
