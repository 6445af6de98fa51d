import { writeFileSync } from 'node:fs';
import { configurationDocument } from './configuration-document.ts';
import { deploymentSettings } from './deployment-settings.ts';

writeFileSync(
  new URL('../../docs/reference/configuration.md', import.meta.url),
  configurationDocument(),
);
writeFileSync(new URL('../../terraform/settings.json', import.meta.url), deploymentSettings());
