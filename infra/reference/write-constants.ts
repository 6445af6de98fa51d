import { writeFileSync } from 'node:fs';
import { constantsDocument } from './constants-document.ts';

writeFileSync(new URL('../../docs/reference/constants.md', import.meta.url), constantsDocument());
