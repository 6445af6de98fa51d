import { writeFileSync } from 'node:fs';
import { configurationDocument } from './configuration-document.ts';

writeFileSync(
  new URL('../../docs/reference/configuration.md', import.meta.url),
  configurationDocument(),
);
